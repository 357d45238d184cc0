import type { ObjectSchema } from '../registry/kind.ts';
import type { CustomResourceDefinition } from '../schema/crd-types.ts';
import type { FieldError } from '../schema/field-error.ts';
/** Replaced by local/schema/compile.ts. */
export function compileSchemas(crd: CustomResourceDefinition): Map<string, ObjectSchema> {
  const schema: ObjectSchema = {
    prune: (object) => ({ pruned: object, unknownFields: [] }),
    default: (object) => object,
    validate: () => [],
    validateStatus: () => [],
  };
  return new Map(crd.spec.versions.map((v) => [v.name, schema]));
}
export function validateCRD(_crd: CustomResourceDefinition): FieldError[] {
  return [];
}
export function strictDecodingMessage(unknownFields: string[], duplicates: string[] = []): string {
  const parts = [...duplicates, ...unknownFields.map((path) => `unknown field "${path}"`)];
  return `strict decoding error: ${parts.join(', ')}`;
}
