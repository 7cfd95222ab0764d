//! What paths find.
