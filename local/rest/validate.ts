import type { StoredObject } from '../object.ts';
import type { FieldError } from '../schema/field-error.ts';
import type { JsonObject } from '../schema/json.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../schema/object-meta.ts';
import { type Call, groupResource } from './call.ts';
import { refuse } from './status.ts';

function metaOf(object: StoredObject): JsonObject {
  return object.metadata as unknown as JsonObject;
}

/** Throws 422 with everything that is wrong with an object, or what the call's last word is. `old` is the stored one of an update. */
export function validateObject(call: Call, object: StoredObject, old: StoredObject | undefined): void {
  const errors = refusals(call, object, old);
  if (errors.length === 0) {
    call.admit(object);
    return;
  }
  // Objects that are stored as another kind are refused in its name.
  const group = call.kind.storedAs === undefined ? call.kind.group : '';
  throw refuse.invalid(group, call.kind.kind, object.metadata.name ?? '', errors);
}

function refusals(call: Call, object: StoredObject, old: StoredObject | undefined): FieldError[] {
  const { schema } = call.version;
  const { traits } = call.kind;
  const json = object as unknown as JsonObject;
  if (schema !== undefined) {
    if (old === undefined) return schema.validate(json);
    const before = old as unknown as JsonObject;
    const warn = (text: string): void => void call.warnings.push(text);
    const errors =
      call.subresource === 'status'
        ? schema.validateStatus(json, before, warn)
        : schema.validate(json, before, warn);
    // The API server checks the metadata of an update before the schema does, and again: its causes are twofold.
    return [...validateObjectMetaUpdate(metaOf(object), metaOf(old)), ...errors];
  }
  const meta =
    old === undefined ? validateNewMeta(call, object) : validateObjectMetaUpdate(metaOf(object), metaOf(old));
  return [...meta, ...(traits.validate?.(object, old) ?? [])];
}

function validateNewMeta({ kind }: Call, object: StoredObject): FieldError[] {
  const { validateName, validatesMetadata } = kind.traits;
  if (validatesMetadata === true) return [];
  return validateObjectMeta(metaOf(object), {
    namespaced: kind.namespaced,
    ...(validateName === undefined ? {} : { name: validateName }),
  });
}

/** The 422 for a PUT that names no resourceVersion where one is needed. */
export function resourceVersionRequired(call: Call, name: string): Error {
  const gr = groupResource(call);
  const error = refuse.invalid(gr.group, gr.resource, name, [
    {
      type: 'Invalid',
      field: 'metadata.resourceVersion',
      badValue: 0,
      detail: 'must be specified for an update',
    },
  ]);
  return error;
}
