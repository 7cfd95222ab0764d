-- Ids are `kind:name` everywhere, so that one column can point at things of several kinds. Times are milliseconds since 1970.
CREATE TABLE members (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('admin', 'agent', 'viewer')), about TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE agents (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL REFERENCES members (id),
    rights TEXT NOT NULL, prompt TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1, updated INTEGER NOT NULL
) STRICT;

CREATE TABLE companies (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, domain TEXT NOT NULL DEFAULT '', city TEXT NOT NULL DEFAULT '',
    tier TEXT NOT NULL DEFAULT 'standard' CHECK (tier IN ('key', 'standard', 'small')),
    status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'trial', 'at risk', 'paused', 'lost')),
    owner TEXT REFERENCES members (id), about TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL DEFAULT 1, created INTEGER NOT NULL, updated INTEGER NOT NULL, deleted INTEGER
) STRICT;

CREATE TABLE contacts (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, company TEXT REFERENCES companies (id), email TEXT NOT NULL DEFAULT '',
    phone TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'left', 'do not contact')),
    version INTEGER NOT NULL DEFAULT 1, created INTEGER NOT NULL, updated INTEGER NOT NULL, deleted INTEGER
) STRICT;
CREATE INDEX contacts_company ON contacts (company);
CREATE INDEX contacts_email ON contacts (email);

CREATE TABLE threads (
    id TEXT PRIMARY KEY, subject TEXT NOT NULL, contact TEXT REFERENCES contacts (id), company TEXT REFERENCES companies (id),
    status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'waiting', 'closed')), assignee TEXT,
    priority TEXT NOT NULL DEFAULT 'normal' CHECK (priority IN ('low', 'normal', 'high')),
    unread INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 1,
    created INTEGER NOT NULL, last_message INTEGER NOT NULL, updated INTEGER NOT NULL
) STRICT;
CREATE INDEX threads_last ON threads (status, last_message);
CREATE INDEX threads_company ON threads (company);

CREATE TABLE messages (
    id TEXT PRIMARY KEY, thread TEXT NOT NULL REFERENCES threads (id), seq INTEGER NOT NULL,
    author TEXT NOT NULL, body TEXT NOT NULL, sent INTEGER NOT NULL, UNIQUE (thread, seq)
) STRICT;

CREATE TABLE thread_tags (
    thread TEXT NOT NULL REFERENCES threads (id), tag TEXT NOT NULL, PRIMARY KEY (thread, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags ON thread_tags (tag);

CREATE TABLE tasks (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '', assignee TEXT, about TEXT, thread TEXT,
    deadline INTEGER, done INTEGER, version INTEGER NOT NULL DEFAULT 1, created INTEGER NOT NULL, updated INTEGER NOT NULL
) STRICT;
CREATE INDEX tasks_deadline ON tasks (done, deadline);

CREATE TABLE articles (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, topic TEXT NOT NULL, body TEXT NOT NULL,
    audience TEXT NOT NULL CHECK (audience IN ('customer', 'internal')),
    version INTEGER NOT NULL DEFAULT 1, updated INTEGER NOT NULL
) STRICT;

-- The index is filled when articles are indexed anew, not with each change: that is what a reindexing is for.
CREATE VIRTUAL TABLE article_index USING fts5 (id UNINDEXED, title, body, tokenize = 'porter unicode61 remove_diacritics 2');

CREATE TABLE article_locks (
    article TEXT PRIMARY KEY REFERENCES articles (id), holder TEXT NOT NULL, run TEXT NOT NULL, taken INTEGER NOT NULL
) STRICT;

CREATE TABLE article_snapshots (
    id TEXT PRIMARY KEY, article TEXT NOT NULL REFERENCES articles (id), run TEXT NOT NULL, title TEXT NOT NULL,
    body TEXT NOT NULL, version INTEGER NOT NULL, taken INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('held', 'kept', 'offered', 'undone')), why TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX one_snapshot ON article_snapshots (article, run);

CREATE TABLE drafts (
    id TEXT PRIMARY KEY, thread TEXT REFERENCES threads (id), recipient TEXT NOT NULL, subject TEXT NOT NULL,
    body TEXT NOT NULL, author TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL, sent INTEGER
) STRICT;

-- Mail that would be on its way. Nothing here ever leaves the machine.
CREATE TABLE outbox (
    id TEXT PRIMARY KEY, thread TEXT REFERENCES threads (id), message TEXT, recipient TEXT NOT NULL, subject TEXT NOT NULL,
    body TEXT NOT NULL, author TEXT NOT NULL, queued INTEGER NOT NULL, leaves INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'sent', 'unsent'))
) STRICT;

CREATE TABLE notes (
    id TEXT PRIMARY KEY, about TEXT NOT NULL, author TEXT NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX notes_about ON notes (about);

-- Every change: who, when, what. What was proposed about something is stale once somebody else changed it.
CREATE TABLE activity (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL, verb TEXT NOT NULL,
    about TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '{}', key TEXT
) STRICT;
CREATE INDEX activity_about ON activity (about, seq);

-- What calls came to, by their keys, written with their effects: the same call again reads it and does nothing.
CREATE TABLE effects (
    key TEXT PRIMARY KEY, tool TEXT NOT NULL, outcome TEXT NOT NULL, at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE documents (
    kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL, PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('reindex', 'eval-suite')),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    done INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0, request TEXT NOT NULL DEFAULT '{}',
    result TEXT, who TEXT NOT NULL, created INTEGER NOT NULL, ended INTEGER
) STRICT;

-- Numbers for new ids, by kind.
CREATE TABLE numbers (kind TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
