import { refuseEscalation } from '../auth/escalation.ts';
import { denial } from '../auth/rbac.ts';
import type { ServedKind } from '../registry/registry.ts';
import { apiVersion, type Call, groupResource, keyOf, type NamedCall, storageId } from '../rest/call.ts';
import { create } from '../rest/create.ts';
import { parseObject } from '../rest/decode.ts';
import { duplicateFields } from '../rest/duplicate-fields.ts';
import { remove } from '../rest/delete.ts';
import { removeCollection } from '../rest/delete-collection.ts';
import { list } from '../rest/list.ts';
import { listOptions, storageRV } from '../rest/list-options.ts';
import { APPLY_PATCH, patch } from '../rest/patch.ts';
import { type Representation, representation } from '../rest/represent.ts';
import { selectionOf } from '../rest/selection.ts';
import { refuse, type Status } from '../rest/status.ts';
import { update } from '../rest/update.ts';
import type { StoredObject } from '../object.ts';
import { Watch } from '../watch/watch.ts';
import { readBody } from './body.ts';
import { type Exchange, notFound, readText, type ServerContext } from './exchange.ts';
import { deleteOptions, writeOptions } from './options.ts';
import { send, sendStatus } from './respond.ts';
import type { ResourceRoute, Verb } from './route.ts';
import { serveTokenRequest } from './token-request.ts';

interface Target {
  route: ResourceRoute;
  verb: Verb;
  served: ServedKind;
}

/** A request for stored objects. */
export async function serveObjects(
  context: ServerContext,
  exchange: Exchange,
  target: Target,
): Promise<void> {
  const { name, namespace = '' } = target.route;
  if (isTokenRequest(target) && name !== undefined) {
    if (target.verb !== 'create') throw refuse.noSuchMethod();
    await serveTokenRequest(context, exchange, { name, namespace });
    return;
  }
  const call = callOf(context, exchange, target);
  if (call === undefined) {
    // A subresource that a custom kind does not have is missed as the object would be.
    if (target.served.kind.crd !== undefined && target.route.name !== undefined) {
      throw refuse.notFound(groupResource(target.served), target.route.name);
    }
    notFound(exchange);
    return;
  }
  if (call.kind.traits.verbs?.includes(target.verb) === false || !subresourceHas(call, target.verb)) {
    throw refuse.methodNotAllowed(groupResource(call), target.verb);
  }
  if (call.version.deprecation !== undefined) call.warnings.push(call.version.deprecation);
  const view = representation(exchange.request.headers.accept, call, {
    includeObject: exchange.query.get('includeObject'),
    clock: context.clock,
  });
  switch (target.verb) {
    case 'get':
      return get(context, exchange, named(call), view);
    case 'list':
    case 'watch':
      return read(context, exchange, call, view, target.verb);
    case 'create':
      return post(context, exchange, call, view);
    case 'update':
      return put(context, exchange, named(call), view);
    case 'patch':
      return patchObject(context, exchange, call as NamedCall, view);
    case 'delete':
      return deleteObject(context, exchange, named(call), view);
    case 'deletecollection':
      return deleteObjects(context, exchange, call, view);
  }
}

function isTokenRequest({ served: { kind }, route }: Target): boolean {
  return kind.group === '' && kind.plural === 'serviceaccounts' && route.subresource === 'token';
}

function callOf(
  context: ServerContext,
  exchange: Exchange,
  { route, verb, served }: Target,
): Call | undefined {
  const { kind, version } = served;
  const { subresource } = route;
  if (subresource !== undefined && !hasSubresource(served, subresource)) return undefined;
  const writes =
    verb === 'create'
      ? 'CreateOptions'
      : verb === 'update'
        ? 'UpdateOptions'
        : verb === 'patch'
          ? 'PatchOptions'
          : undefined;
  const options =
    writes === undefined
      ? { dryRun: false, fieldValidation: 'Warn' as const, fieldManager: '', force: false }
      : writeOptions(exchange.query, writes, {
          apply: verb === 'patch' && isApply(exchange.request.headers['content-type']),
          userAgent: exchange.request.headers['user-agent'] ?? '',
        });
  return {
    kind,
    version,
    namespace: route.namespace,
    name: route.name,
    subresource: subresource as Call['subresource'],
    query: exchange.query,
    user: exchange.user,
    warnings: exchange.warnings,
    admit: (object) =>
      refuseEscalation(context.authorizer, { user: exchange.user, kind, namespace: route.namespace }, object),
    ...options,
  };
}

function hasSubresource({ kind, version }: ServedKind, name: string): boolean {
  if (name === 'status') return version.status;
  return name === 'finalize' && kind.group === '' && kind.plural === 'namespaces';
}

/** A subresource is read and changed; it is created and deleted with its object. */
function subresourceHas(call: Call, verb: Verb): boolean {
  if (call.subresource === undefined) return true;
  if (call.subresource === 'finalize') return verb === 'update';
  return verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'watch';
}

function named(call: Call): NamedCall {
  if (call.name === undefined) throw refuse.badRequest('name must be provided');
  return call as NamedCall;
}

function answer(exchange: Exchange, view: Representation, object: StoredObject, code = 200): void {
  send(exchange.response, code, view.object({ object }), {
    contentType: view.contentType,
    warnings: exchange.warnings,
  });
}

function get(context: ServerContext, exchange: Exchange, call: NamedCall, view: Representation): void {
  const wanted = storageRV(call.query.get('resourceVersion') || '0');
  if (wanted > context.store.rv) throw refuse.tooLargeResourceVersion(wanted, context.store.rv);
  const row = context.store.read(storageId(call.kind), keyOf(call));
  if (row === undefined) throw refuse.notFound(groupResource(call), call.name);
  send(exchange.response, 200, view.object(row), {
    contentType: view.contentType,
    warnings: exchange.warnings,
  });
}

function read(
  context: ServerContext,
  exchange: Exchange,
  call: Call,
  view: Representation,
  verb: 'list' | 'watch',
): void {
  const options = listOptions(call.query, verb === 'watch');
  const selection = selectionOf(call);
  if (verb === 'watch') {
    const { store, hub } = context;
    const from = options.resourceVersion ?? 0;
    // A client from before the data folder was put back to an older state: it would wait in silence for what has
    // happened already under other numbers.
    if (from > store.rv) throw refuse.tooLargeResourceVersion(from, store.rv);
    new Watch({ call, response: exchange.response, store, hub, view, selection, list: options }).start(
      options,
    );
    return;
  }
  const page = list(call, options, selection, context.store);
  send(exchange.response, 200, view.list(page), {
    contentType: view.contentType,
    warnings: exchange.warnings,
  });
}

async function readObject(
  exchange: Exchange,
  call: Call,
): Promise<{ body: Record<string, unknown>; duplicates: string[] }> {
  const text = await readText(exchange);
  // The URL says what a built-in object is; one of a custom kind must say so itself.
  const otherwise =
    call.kind.crd === undefined ? { apiVersion: apiVersion(call), kind: call.kind.kind } : undefined;
  const body = parseObject(text, call.kind.kind, otherwise);
  return { body, duplicates: call.fieldValidation === 'Ignore' ? [] : duplicateFields(text) };
}

async function post(
  context: ServerContext,
  exchange: Exchange,
  call: Call,
  view: Representation,
): Promise<void> {
  if (call.name !== undefined && call.kind.crd === undefined) {
    throw refuse.methodNotAllowed(groupResource(call), 'create');
  }
  const { body, duplicates } = await readObject(exchange, call);
  answer(exchange, view, await create(call, body, { ...context, duplicates }), 201);
}

async function put(
  context: ServerContext,
  exchange: Exchange,
  call: NamedCall,
  view: Representation,
): Promise<void> {
  const { body, duplicates } = await readObject(exchange, call);
  const result = await update(call, body, { ...context, duplicates });
  answer(exchange, view, result.object, result.created ? 201 : 200);
}

const isApply = (contentType: string | undefined): boolean =>
  (contentType ?? '').split(';')[0]?.trim() === APPLY_PATCH;

/** An apply that makes the object needs the right to make it, too. */
function mayCreate(context: ServerContext, exchange: Exchange, call: NamedCall): void {
  const wanted = {
    verb: 'create',
    group: call.kind.group,
    resource: call.kind.plural,
    subresource: '',
    namespace: call.namespace ?? '',
    name: call.name,
  };
  if (context.authorizer.authorize(exchange.user, wanted).allowed) return;
  throw refuse.forbidden(groupResource(call), call.name, denial(exchange.user, wanted));
}

async function patchObject(
  context: ServerContext,
  exchange: Exchange,
  call: NamedCall,
  view: Representation,
): Promise<void> {
  const body = (await readBody(exchange.request)).toString('utf8');
  const type = exchange.request.headers['content-type'] ?? '';
  const result = await patch(call, body, type, {
    ...context,
    mayCreate: () => mayCreate(context, exchange, call),
  });
  answer(exchange, view, result.object, result.created ? 201 : 200);
}

async function deleteObject(
  context: ServerContext,
  exchange: Exchange,
  call: NamedCall,
  view: Representation,
): Promise<void> {
  const options = deleteOptions(await readText(exchange), call.query);
  const result = await remove({ ...call, dryRun: options.dryRun }, options, context);
  if (isStatus(result)) sendStatus(exchange.response, result, exchange.warnings);
  else answer(exchange, view, result);
}

function isStatus(result: StoredObject | Status): result is Status {
  return result.kind === 'Status' && result.apiVersion === 'v1';
}

async function deleteObjects(
  context: ServerContext,
  exchange: Exchange,
  call: Call,
  view: Representation,
): Promise<void> {
  const { dryRun, ...options } = deleteOptions(await readText(exchange), call.query);
  const listing = { options: listOptions(call.query, false), selection: selectionOf(call) };
  const page = await removeCollection({ ...call, dryRun }, listing, options, context);
  send(exchange.response, 200, view.list(page), {
    contentType: view.contentType,
    warnings: exchange.warnings,
  });
}
