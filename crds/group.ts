/** The API group and version every kind of Holdfast is served under. */
export const GROUP = 'holdfast.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}` as const;

/** Held by the controller while a sandbox may have a container somewhere (K3). */
export const FINALIZER = `${GROUP}/container`;
