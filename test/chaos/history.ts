import type { Sandbox } from '../../crds/sandbox.ts';

/** A write of a Sandbox as etcd has it. */
export interface ObjectWrite {
  /** etcd's revision, which is the resourceVersion. */
  revision: number;
  /** `namespace/name` */
  key: string;
  /** As it is after the write; of a deletion, as it was before. */
  sandbox: Sandbox;
  deleted: boolean;
  /** When it was seen, in milliseconds since 1970. */
  atMs: number;
}

export interface ContainerEvent {
  /** Of the agent whose daemon it is. */
  node: string;
  uid: string;
  /** Of the container. */
  id: string;
  action: 'create' | 'start' | 'die' | 'destroy';
  /** By the daemon. */
  atMs: number;
}

/** A write that somebody was told has been done. */
export interface Acknowledged {
  who: string;
  what: string;
  uid: string | undefined;
  resourceVersion: string;
}

/** What a Sandbox has to have become in the end. */
export type Expected = 'gone' | 'Ready' | 'Succeeded' | 'Failed' | 'Suspended';

export interface History {
  writes: ObjectWrite[];
  containers: ContainerEvent[];
  acknowledged: Acknowledged[];
  /** By `namespace/name`. */
  expected: Map<string, Expected>;
  /** Calls by component, of writes on one Sandbox. */
  writesPerSandbox: { who: string; path: string; count: number }[];
  /** Calls while nothing changed, at the end. */
  calm: { seconds: number; calls: { who: string; what: string; count: number }[] };
  endMs: number;
}
