import type { ReviewKind } from '../auth/reviews.ts';
import { isRecord } from '../object.ts';
import { parseObject } from '../rest/decode.ts';
import { refuse } from '../rest/status.ts';
import { type Exchange, readText, type ServerContext } from './exchange.ts';
import { send } from './respond.ts';

/** POST of a review: answered with its status, stored nowhere. */
export async function serveReview(
  context: ServerContext,
  exchange: Exchange,
  review: ReviewKind,
  namespace: string | undefined,
): Promise<void> {
  const body = parseObject(await readText(exchange), review.kind, {
    apiVersion: `${review.group}/v1`,
    kind: review.kind,
  });
  if (body['kind'] !== review.kind) {
    throw refuse.badRequest(`the object is of kind ${JSON.stringify(body['kind'])}, not ${review.kind}`);
  }
  const spec = isRecord(body['spec']) ? body['spec'] : {};
  const status = review.review(spec, {
    user: exchange.user,
    namespace,
    authorizer: context.authorizer,
    tokens: context.tokens,
  });
  const metadata = isRecord(body['metadata']) ? body['metadata'] : {};
  send(
    exchange.response,
    201,
    JSON.stringify({ apiVersion: `${review.group}/v1`, kind: review.kind, metadata, spec, status }),
  );
}
