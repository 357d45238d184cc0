import { impersonate } from '../auth/impersonation.ts';
import { denial } from '../auth/rbac.ts';
import { REVIEWS, type ReviewKind } from '../auth/reviews.ts';
import type { User } from '../auth/user.ts';
import { refuse, type StatusError } from '../rest/status.ts';
import type { ServerAnswer, ServerRequest } from './connection.ts';
import { type Exchange, notFound, type ServerContext } from './exchange.ts';
import { serveObjects } from './objects.ts';
import { send, sendError } from './respond.ts';
import { serveReview } from './review.ts';
import { UnreadAnswers } from './unread-answers.ts';
import { attributesOf, type ResourceRoute, resourceRoute, type Verb, verbOf } from './route.ts';
import { isTrue } from '../rest/list-options.ts';
import { versionInfo } from './version.ts';

/** Requests served at once, watches apart; as a kube-apiserver's two limits together. */
const MAX_IN_FLIGHT = 600;
/** A client has this long to read an answer. */
const MAX_SEND_MS = 60_000;

export function createHandler(
  context: ServerContext,
): (request: ServerRequest, response: ServerAnswer) => void {
  let inFlight = 0;
  const unread = new UnreadAnswers();
  return (request, response) => {
    const warnings: string[] = [];
    // A client that goes away while it is answered is no fault of the server's.
    request.on('error', () => {});
    response.on('error', () => {});
    if (inFlight >= MAX_IN_FLIGHT) {
      sendError(request, response, refuse.tooManyRequests('too many requests, please try again later'), {
        log: context.log,
        warnings,
      });
      return;
    }
    inFlight += 1;
    serve(context, request, response, warnings)
      .catch((error: unknown) => {
        if (request.destroyed && !request.complete) response.destroy();
        else sendError(request, response, error, { log: context.log, warnings });
      })
      .finally(() => {
        whenSent(response, unread, () => {
          inFlight -= 1;
        });
      });
  };
}

/** An answer that nobody reads holds memory, so it counts until it is gone. Watches keep their own time. */
function whenSent(response: ServerAnswer, unread: UnreadAnswers, done: () => void): void {
  const streaming = response.headersSent && !response.writableEnded;
  if (streaming || response.closed || response.destroyed) {
    done();
    return;
  }
  unread.add(response);
  const timer = setTimeout(() => response.destroy(), MAX_SEND_MS).unref();
  response.once('close', () => {
    clearTimeout(timer);
    unread.remove(response);
    done();
  });
}

async function serve(
  context: ServerContext,
  request: ServerRequest,
  response: ServerAnswer,
  warnings: string[],
): Promise<void> {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  const caller = context.tokens.authenticate(request.headers.authorization);
  if (caller === undefined) throw refuse.unauthorized();
  const user = impersonate(context.authorizer, caller, request.headers);
  const exchange: Exchange = { request, response, path, query, user, warnings };
  const route = readRoute(path);
  if (route === undefined) {
    await servePath(context, exchange);
    return;
  }
  await serveRoute(context, exchange, route);
}

function readRoute(path: string): ResourceRoute | undefined {
  try {
    return resourceRoute(path);
  } catch {
    throw refuse.badRequest('the path of the request has a broken escape sequence');
  }
}

async function serveRoute(context: ServerContext, exchange: Exchange, route: ResourceRoute): Promise<void> {
  const { query, request } = exchange;
  const watching = route.watch || isTrue(query.get('watch'));
  const verb = verbOf(request.method ?? 'GET', route.name !== undefined, watching);
  if (verb === undefined)
    throw refuse.methodNotAllowed({ group: route.group, resource: route.plural }, request.method ?? '');
  authorize(context, exchange, route, verb);
  const review = reviewOf(route);
  if (review !== undefined) {
    if (verb !== 'create')
      throw refuse.methodNotAllowed({ group: route.group, resource: route.plural }, verb);
    await serveReview(context, exchange, review, route.namespace);
    return;
  }
  const served = context.registry.find(route.group, route.version, route.plural);
  // Nothing lists across namespaces what has none, and the other way round for what a name is given to.
  const misplaced =
    served !== undefined &&
    (served.kind.namespaced
      ? route.namespace === undefined &&
        (route.name !== undefined || verb === 'create' || verb === 'deletecollection')
      : route.namespace !== undefined);
  if (served === undefined && route.group === '') throw refuse.noSuchResource();
  if (served === undefined || misplaced) {
    notFound(exchange);
    return;
  }
  await serveObjects(context, exchange, { route, verb, served });
}

function reviewOf(route: ResourceRoute): ReviewKind | undefined {
  if (route.version !== 'v1' || route.name !== undefined) return undefined;
  return REVIEWS.find(
    (review) =>
      review.group === route.group &&
      review.plural === route.plural &&
      review.namespaced === (route.namespace !== undefined),
  );
}

function authorize(context: ServerContext, exchange: Exchange, route: ResourceRoute, verb: Verb): void {
  const named = /(?:^|,)metadata\.name==?([^,]+)(?:,|$)/.exec(exchange.query.get('fieldSelector') ?? '')?.[1];
  const wanted = attributesOf(route, verb, named);
  const decision = context.authorizer.authorize(exchange.user, wanted);
  if (decision.allowed) return;
  throw refuse.forbidden(
    { group: route.group, resource: route.plural },
    'name' in wanted ? wanted.name : '',
    denial(exchange.user, wanted, decision),
  );
}

/** What is not a resource: health, version, discovery, schemas. */
async function servePath(context: ServerContext, exchange: Exchange): Promise<void> {
  const { path, request, response } = exchange;
  const wanted = { verb: (request.method ?? 'GET').toLowerCase(), path };
  if (!context.authorizer.authorize(exchange.user, wanted).allowed) {
    throw forbiddenPath(exchange.user, wanted);
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw refuse.noSuchMethod();
  }
  if (path === '/version' || path === '/version/') {
    send(response, 200, versionInfo());
    return;
  }
  if (HEALTH.test(path)) {
    const ok = path.startsWith('/livez') || context.ready();
    send(response, ok ? 200 : 500, ok ? 'ok' : 'not ready', { contentType: 'text/plain; charset=utf-8' });
    return;
  }
  const accept = request.headers.accept ?? '';
  const document = path.startsWith('/openapi/v3')
    ? await context.openapi.document(path)
    : /^\/apis?(?:\/|$)/.test(path)
      ? context.discovery.document(path, accept)
      : undefined;
  if (document === undefined && path.startsWith('/api/')) throw refuse.noSuchResource();
  if (document === undefined) notFound(exchange);
  else send(response, 200, document.body, { contentType: document.contentType });
}

const HEALTH = /^\/(?:livez|readyz|healthz)(?:\/|$)/;

function forbiddenPath(user: User, wanted: { verb: string; path: string }): StatusError {
  return refuse.forbidden({ group: '', resource: '' }, '', denial(user, wanted));
}
