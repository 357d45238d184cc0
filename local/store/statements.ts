import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A key's successor in order: every key that starts with `prefix` is in [prefix, prefixEnd(prefix)). */
export function prefixEnd(prefix: string): string {
  if (prefix === '') return '\u{10ffff}';
  const last = prefix.codePointAt(prefix.length - 1) ?? 0;
  return prefix.slice(0, -1) + String.fromCodePoint(last + 1);
}

export type Statements = ReturnType<typeof prepareStatements>;

/** Every statement of the store, compiled once. */
export function prepareStatements(db: DatabaseSync) {
  const prepare = (sql: string): StatementSync => db.prepare(sql);
  return {
    begin: prepare('BEGIN IMMEDIATE'),
    commit: prepare('COMMIT'),
    rollback: prepare('ROLLBACK'),
    lastRV: prepare(
      "SELECT max((SELECT coalesce(max(rv), 0) FROM revisions), value) AS rv FROM meta WHERE name = 'compacted'",
    ),
    compacted: prepare("SELECT value FROM meta WHERE name = 'compacted'"),
    setCompacted: prepare("UPDATE meta SET value = ? WHERE name = 'compacted'"),
    read: prepare(
      'SELECT r.rv AS rv, r.body AS body FROM current c JOIN revisions r ON r.rv = c.rv WHERE c.resource = ? AND c.key = ?',
    ),
    page: prepare(
      `SELECT c.key AS key, c.rv AS rv, r.body AS body FROM current c JOIN revisions r ON r.rv = c.rv
       WHERE c.resource = ? AND c.key > ? AND c.key < ? ORDER BY c.key LIMIT ?`,
    ),
    /** The state at a revision: the newest revision of each key that is not younger, deletions left out. */
    pageAt: prepare(
      `SELECT r.key AS key, r.rv AS rv, r.body AS body FROM revisions r
       WHERE r.resource = ? AND r.key > ? AND r.key < ? AND r.rv <= ?4 AND r.type <> 2
         AND r.rv = (SELECT max(n.rv) FROM revisions n WHERE n.resource = r.resource AND n.key = r.key AND n.rv <= ?4)
       ORDER BY r.key LIMIT ?`,
    ),
    count: prepare('SELECT count(*) AS n FROM current WHERE resource = ? AND key > ? AND key < ?'),
    countAt: prepare(
      `SELECT count(*) AS n FROM revisions r
       WHERE r.resource = ? AND r.key > ? AND r.key < ? AND r.rv <= ?4 AND r.type <> 2
         AND r.rv = (SELECT max(n.rv) FROM revisions n WHERE n.resource = r.resource AND n.key = r.key AND n.rv <= ?4)`,
    ),
    history: prepare(
      `SELECT r.rv AS rv, r.key AS key, r.type AS type, r.body AS body, p.body AS previous
       FROM revisions r LEFT JOIN revisions p ON p.rv = r.prev
       WHERE r.resource = ? AND r.rv > ? AND r.key > ? AND r.key < ? ORDER BY r.rv LIMIT ?`,
    ),
    insert: prepare(
      'INSERT INTO revisions (rv, resource, key, type, prev, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    setCurrent: prepare(
      'INSERT INTO current (resource, key, rv) VALUES (?, ?, ?) ON CONFLICT (resource, key) DO UPDATE SET rv = excluded.rv',
    ),
    unsetCurrent: prepare('DELETE FROM current WHERE resource = ? AND key = ?'),
    addOwner: prepare('INSERT OR IGNORE INTO owners (owner, resource, key) VALUES (?, ?, ?)'),
    dropOwners: prepare('DELETE FROM owners WHERE resource = ? AND key = ?'),
    dependents: prepare('SELECT resource, key FROM owners WHERE owner = ?'),
    owned: prepare('SELECT DISTINCT resource, key FROM owners'),
    deleting: prepare(
      `SELECT c.resource AS resource, c.key AS key FROM current c JOIN revisions r ON r.rv = c.rv
       WHERE instr(r.body, '"deletionTimestamp"') > 0`,
    ),
    /** The newest revision older than a moment. */
    revisionAt: prepare('SELECT rv FROM revisions WHERE at < ? ORDER BY rv DESC LIMIT 1'),
    /** Compaction of a range: what its revisions replaced, and its deletions. */
    dropReplaced: prepare(
      'DELETE FROM revisions WHERE rv IN (SELECT prev FROM revisions WHERE rv > ? AND rv <= ? AND prev > 0)',
    ),
    dropDeletions: prepare('DELETE FROM revisions WHERE rv > ? AND rv <= ? AND type = 2'),
    freePages: prepare('PRAGMA freelist_count'),
  };
}
