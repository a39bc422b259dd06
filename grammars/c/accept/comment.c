// only a comment before
enum e { A };
