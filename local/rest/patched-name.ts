import type { StoredObject } from '../object.ts';
import type { NamedCall } from './call.ts';
import { refuse } from './status.ts';

/** Refuses (400) what a patch has made of another name, or of another namespace, than the URL's. */
export function checkPatchedName(call: NamedCall, object: StoredObject): void {
  if (call.kind.namespaced && (object.metadata.namespace ?? call.namespace) !== call.namespace) {
    throw refuse.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  if ((object.metadata.name ?? '') === '') {
    throw refuse.badRequest(
      `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (object.metadata.name !== call.name) {
    throw refuse.badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${call.name})`,
    );
  }
}
