import { refuse } from '../rest/status.ts';
import type { ServerRequest } from './connection.ts';

/** As a kube-apiserver's. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;

const tooLarge = (): Error => refuse.tooLarge(`Request entity too large: limit is ${MAX_BODY_BYTES}`);

/** The whole body. Throws 413 as soon as it is too long, without reading the rest. */
export async function readBody(request: ServerRequest): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

type BodyType = 'json' | 'yaml' | 'protobuf';

/** What a body is written in. Throws 415. */
function bodyType(contentType: string | undefined): BodyType {
  const type = (contentType ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'application/json' || type === 'application/x-www-form-urlencoded')
    return 'json';
  if (type === 'application/yaml') return 'yaml';
  if (type === 'application/vnd.kubernetes.protobuf') return 'protobuf';
  throw refuse.unsupportedMediaType(
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  );
}

/** The body as JSON text; `duplicates` are the duplicate fields that it had. Throws 400 and 415. */
export async function jsonText(body: Buffer, contentType: string | undefined): Promise<string> {
  const type = bodyType(contentType);
  if (type === 'json') return body.toString('utf8');
  if (type === 'yaml') return yamlToJSON(body.toString('utf8'));
  return protobufToJSON(body);
}

async function yamlToJSON(text: string): Promise<string> {
  const { readYAML } = await import('../rest/yaml-text.ts');
  const { value, error } = readYAML(text);
  if (error !== undefined) throw refuse.badRequest(`error converting YAML to JSON: ${error}`);
  return JSON.stringify(value) ?? 'null';
}

/** kubectl writes a few built-in kinds so. */
async function protobufToJSON(body: Buffer): Promise<string> {
  if (body.length === 0) return '';
  const { decodeProtobuf, ProtobufError } = await import('../protobuf/decode.ts');
  try {
    return JSON.stringify(decodeProtobuf(body));
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw refuse.badRequest(`the body of the request could not be decoded: ${error.message}`);
  }
}
