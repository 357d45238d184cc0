import { API_AUDIENCE, type BoundTo } from '../auth/account-tokens.ts';
import { timestamp } from '../clock.ts';
import { isRecord, type StoredObject } from '../object.ts';
import { kindId } from '../registry/kind.ts';
import { parseObject } from '../rest/decode.ts';
import { refuse } from '../rest/status.ts';
import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import { type Exchange, readText, type ServerContext } from './exchange.ts';
import { send } from './respond.ts';

const GROUP = 'authentication.k8s.io';
const KIND = 'TokenRequest';
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

type Fields = Record<string, unknown>;
const record = (value: unknown): Fields => (isRecord(value) ? value : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** POST of serviceaccounts/NAME/token: a token for the account, for as long as is asked for. */
export async function serveTokenRequest(
  context: ServerContext,
  exchange: Exchange,
  target: { namespace: string; name: string },
): Promise<void> {
  const body = parseObject(await readText(exchange), KIND, { apiVersion: `${GROUP}/v1`, kind: KIND });
  if (body['kind'] !== KIND || body['apiVersion'] !== `${GROUP}/v1`) {
    throw refuse.badRequest(
      `the object is ${text(body['apiVersion'])} ${text(body['kind'])}, not ${GROUP}/v1 ${KIND}`,
    );
  }
  const { namespace, name } = target;
  const account = find(context, 'serviceaccounts', target);
  const spec = record(body['spec']);
  const given = spec['expirationSeconds'];
  const seconds = typeof given === 'number' ? given : DEFAULT_SECONDS;
  check(seconds);
  const asked = strings(spec['audiences']);
  const audiences = asked.length === 0 ? [API_AUDIENCE] : asked;
  const reference = isRecord(spec['boundObjectRef']) ? spec['boundObjectRef'] : undefined;
  const boundTo = reference === undefined ? undefined : resolve(context, namespace, reference);
  const { token, expires } = context.accountTokens.issue({ account, audiences, seconds, boundTo });
  send(
    exchange.response,
    201,
    JSON.stringify({
      kind: KIND,
      apiVersion: `${GROUP}/v1`,
      metadata: {
        name,
        namespace,
        uid: account.metadata.uid,
        creationTimestamp: timestamp(context.clock.now()),
      },
      spec: {
        audiences,
        expirationSeconds: seconds,
        boundObjectRef: reference ?? null,
      },
      status: { token, expirationTimestamp: timestamp(expires) },
    }),
  );
}

function check(seconds: number): void {
  const at = 'spec.expirationSeconds';
  const errors: FieldError[] = [];
  if (seconds < MIN_SECONDS)
    errors.push(fieldErrors.invalid(at, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > MAX_SECONDS)
    errors.push(fieldErrors.invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'));
  if (errors.length > 0) throw refuse.invalid(GROUP, KIND, '', errors);
}

function find(
  { store }: ServerContext,
  resource: string,
  { namespace, name }: { namespace: string; name: string },
): StoredObject {
  const object = store.get(kindId('', resource), `${namespace}/${name}`);
  if (object === undefined) throw refuse.notFound({ group: '', resource }, name);
  return object;
}

/** Nodes and pods are not served here: their name is taken as it is given, so that agents get the tokens they expect. */
function resolve(context: ServerContext, namespace: string, reference: Fields): BoundTo {
  const [kind, apiVersion, name] = [reference['kind'], reference['apiVersion'], reference['name']].map(text);
  const uid = text(reference['uid']);
  if (apiVersion === 'v1' && kind === 'Secret') {
    const secret = find(context, 'secrets', { namespace, name: name ?? '' });
    const own = secret.metadata.uid ?? '';
    if (uid !== '' && uid !== own) {
      throw refuse.conflict(
        { group: '', resource: 'Secret' },
        name ?? '',
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    }
    return { kind, name: name ?? '', uid: own };
  }
  if (apiVersion === 'v1' && (kind === 'Node' || kind === 'Pod')) return { kind, name: name ?? '', uid };
  const gv = apiVersion?.includes('/') === true ? apiVersion : `/${apiVersion ?? ''}`;
  throw refuse.badRequest(`cannot bind token to object of type ${gv}, Kind=${kind ?? ''}`);
}
