import type { StoredObject } from '../object.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One revision, as watches see it. Bodies are parsed when somebody asks. */
export class Change {
  readonly rv: number;
  readonly resource: string;
  readonly key: string;
  readonly type: ChangeType;
  /** The object as JSON; of a deletion its last state, with the deletion's resourceVersion. */
  readonly body: string;
  /** The object before this change, where there was one and compaction has left it. */
  readonly previousBody: string | undefined;
  #object: StoredObject | undefined;
  #previous: StoredObject | undefined;

  constructor(fields: {
    rv: number;
    resource: string;
    key: string;
    type: ChangeType;
    body: string;
    previousBody: string | undefined;
  }) {
    this.rv = fields.rv;
    this.resource = fields.resource;
    this.key = fields.key;
    this.type = fields.type;
    this.body = fields.body;
    this.previousBody = fields.previousBody;
  }

  get object(): StoredObject {
    this.#object ??= JSON.parse(this.body) as StoredObject;
    return this.#object;
  }

  get previous(): StoredObject | undefined {
    if (this.previousBody === undefined) return undefined;
    this.#previous ??= JSON.parse(this.previousBody) as StoredObject;
    return this.#previous;
  }
}

const TYPES: readonly ChangeType[] = ['ADDED', 'MODIFIED', 'DELETED'];

export function typeCode(type: ChangeType): number {
  return TYPES.indexOf(type);
}

export function typeOf(code: number): ChangeType {
  return TYPES[code] ?? 'MODIFIED';
}
