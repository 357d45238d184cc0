import type { CallOptions, KubeClient, KubeObject, Resource } from './client.ts';
import { sameJSON } from './equal.ts';
import { ConflictError, isConflict } from './errors.ts';

/**
 * Writes `status` with the resourceVersion of `original`, and only where it differs; `original` stays as it is.
 * Answers the object as it is now on the API (`original` itself when there was nothing to write).
 * Throws ConflictError when somebody else wrote meanwhile: read again and decide anew, never write over it.
 */
export async function writeStatus<T extends KubeObject & { status?: unknown }>(
  client: KubeClient,
  resource: Resource,
  original: T,
  status: Exclude<T['status'], undefined>,
  options: CallOptions = {},
): Promise<T> {
  if (sameJSON(original.status, status)) return original;
  try {
    // As large as all the rest, and kept by the server when left out.
    const { managedFields: _, ...metadata } = original.metadata;
    const next = { ...original, metadata, status };
    return await client.update<T>(resource, next, { ...options, subresource: 'status' });
  } catch (error) {
    if (isConflict(error)) throw new ConflictError(error);
    throw error;
  }
}
