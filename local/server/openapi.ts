import type { Registry } from '../registry/registry.ts';

/** The OpenAPI v3 documents that `kubectl explain` and `apply` read. */
export class OpenAPI {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  document(_path: string): { body: string; contentType: string } | undefined {
    return this.#registry.revision < 0
      ? undefined
      : { body: '{"paths":{}}', contentType: 'application/json' };
  }
}
