/** Who asks, as far as the server knows. */
export interface User {
  name: string;
  uid: string;
  groups: readonly string[];
}

export const MASTERS = 'system:masters';
export const AUTHENTICATED = 'system:authenticated';
export const ANONYMOUS: User = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'] };
