/** A request, with `${ns}` and kept values in its path and body filled in before it is sent. */
export interface Step {
  request: string;
  body?: unknown;
  contentType?: string;
  accept?: string;
  headers?: Record<string, string>;
  /** Sent as a user without rights, or without a token. */
  as?: 'nobody' | 'anonymous';
  /** Values for later steps: name -> path into the answer, such as `metadata.resourceVersion`. */
  keep?: Record<string, string>;
  /** Reads a watch until it has so many events, bookmarks of a quiet stream left out unless asked for. */
  watch?: { events: number; bookmarks?: boolean };
  /** Sent again until the answer has this code: for what a server does in its own time. */
  until?: number;
  /** What of the body is compared; all of it by default. */
  view?: (body: unknown) => unknown;
  /** Before the request: the server forgets its history up to now. */
  compact?: true;
  /** Not compared: only there for what follows. */
  silent?: true;
}

export interface Case {
  name: string;
  steps: Step[];
}

/** What is compared of an answer, after normalisation. */
export interface Outcome {
  request: string;
  code: number;
  warning?: string[];
  contentType?: string;
  body: unknown;
}
