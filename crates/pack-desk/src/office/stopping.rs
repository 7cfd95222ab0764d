//! Stops what goes on.

use super::Office;

impl Office {
    /// Ends the runs that go on in this process, of agents and of conversations. Each of them says itself that it was
    /// stopped, and what it did until then stays.
    pub async fn stop(&self) {
        for open in self.open.lock().await.values() {
            open.copilot.agent().abort();
        }
    }
}
