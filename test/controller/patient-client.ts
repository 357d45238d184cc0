import type { KubeClient, KubeObject, ObjectRef, Resource } from '../../kube/client.ts';
import { isAlreadyExists, isNotFound, TransportError } from '../../kube/errors.ts';
import { until } from '../until.ts';

/** Of a server that is killed and started again: each call is made until it is answered. */
export function patientClient(client: KubeClient): KubeClient {
  return {
    get: (...rest) => answered(() => client.get(...rest)),
    list: (...rest) => answered(() => client.list(...rest)),
    update: (...rest) => answered(() => client.update(...rest)),
    patch: (...rest) => answered(() => client.patch(...rest)),
    create: <T extends KubeObject>(resource: Resource, object: T) =>
      answered(
        () => client.create(resource, object),
        async (error) => {
          if (!isAlreadyExists(error)) throw error;
          return client.get<T>(resource, refOf(object));
        },
      ),
    delete: (...rest) =>
      answered(
        () => client.delete(...rest),
        async (error) => {
          if (!isNotFound(error)) throw error;
        },
      ),
    watch: (...rest) => client.watch(...rest),
  };
}

/** `again`: what a refusal means where the answer to an earlier try was lost. */
async function answered<T>(call: () => Promise<T>, again?: (error: unknown) => Promise<T>): Promise<T> {
  let lost = false;
  const answer = await until('an answer of the API server', async () => {
    try {
      return { value: await call() };
    } catch (error) {
      if (!(error instanceof TransportError)) {
        if (!lost || again === undefined) throw error;
        return { value: await again(error) };
      }
      lost = true;
      return undefined;
    }
  });
  return answer.value;
}

function refOf({ metadata }: KubeObject): ObjectRef {
  const { name, namespace } = metadata;
  return namespace === undefined ? { name } : { name, namespace };
}
