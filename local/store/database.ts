import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isLocked, StoreError } from './errors.ts';

const SCHEMA_VERSION = 1;

/*
 * Like etcd's: every write is a new revision, the newest one of a key is the object, the ones before it are the
 * history that watches and paged lists read until compaction. A deletion is a revision too (type 2), whose body
 * is the object's last state.
 */
const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE revisions (
    rv INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    type INTEGER NOT NULL,
    prev INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX revisions_by_key ON revisions (resource, key, rv);
  CREATE INDEX revisions_by_resource ON revisions (resource, rv);
  CREATE TABLE current (
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    rv INTEGER NOT NULL,
    PRIMARY KEY (resource, key)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE owners (
    owner TEXT NOT NULL,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (owner, resource, key)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX owners_by_dependent ON owners (resource, key);
  INSERT INTO meta VALUES ('compacted', 0);
`;

/**
 * Opens the database and takes it for this process alone: the lock is the kernel's, so a killed process leaves
 * none behind. A commit has reached the disk when it returns (WAL with synchronous=FULL).
 * Throws StoreError `Locked` when another process has it, `Version` when a newer program wrote it.
 */
export function openDatabase(path: string, maxPages?: number): DatabaseSync {
  // SQLite would make it readable for others. What is there must not be opened beside SQLite: the close would
  // take this process's lock away.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const db = new DatabaseSync(path);
  try {
    // Exclusive before WAL is entered: then no shared-memory file is used, and the lock is held until the close.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;');
    db.exec('PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 4194304; PRAGMA foreign_keys = OFF;');
    if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${maxPages}`);
    db.exec('BEGIN EXCLUSIVE');
    try {
      migrate(db);
      db.exec('COMMIT');
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
    return db;
  } catch (error) {
    db.close();
    if (isLocked(error)) {
      throw new StoreError('Locked', `${path} is in use by another server`, { cause: error });
    }
    throw error;
  }
}

function migrate(db: DatabaseSync): void {
  const row = db.prepare('PRAGMA user_version').get();
  const version = Number(row?.['user_version'] ?? 0);
  if (version > SCHEMA_VERSION) {
    throw new StoreError(
      'Version',
      `the data folder was written by a newer version (format ${version}, this program reads up to ${SCHEMA_VERSION})`,
    );
  }
  if (version === SCHEMA_VERSION) return;
  db.exec(SCHEMA);
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}
