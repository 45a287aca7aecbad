CREATE TABLE IF NOT EXISTS cells (
    position INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    labels TEXT NOT NULL,
    settings TEXT NOT NULL,
    result TEXT
);
CREATE TABLE IF NOT EXISTS parts (
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (key, name)
) WITHOUT ROWID
