/** Who asks, as far as the server knows. */
export interface User {
  name: string;
  uid: string;
  groups: readonly string[];
  /** More that is known of them, such as the node that a token is bound to. */
  extra?: Readonly<Record<string, readonly string[]>>;
}

export const MASTERS = 'system:masters';
export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS: User = { name: 'system:anonymous', uid: '', groups: [UNAUTHENTICATED] };
