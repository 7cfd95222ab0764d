-- Lives of processes at this desk. Who shows no sign of life until then is gone, and what they had is taken over.
CREATE TABLE lives (id TEXT PRIMARY KEY, since INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- The life that a run belongs to, for as long as it goes on: its locks are as alive as that.
CREATE TABLE run_lives (run TEXT PRIMARY KEY, life TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- The life that does a job.
ALTER TABLE jobs ADD COLUMN life TEXT;
