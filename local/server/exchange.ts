import type { Logger } from 'pino';
import type { AccountTokens } from '../auth/account-tokens.ts';
import type { RBACAuthorizer } from '../auth/rbac.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { User } from '../auth/user.ts';
import type { Clock } from '../clock.ts';
import type { Registry } from '../registry/registry.ts';
import type { Store } from '../store/store.ts';
import type { WatchHub } from '../watch/hub.ts';
import { jsonText, readBody } from './body.ts';
import type { ServerAnswer, ServerRequest } from './connection.ts';
import type { Discovery } from './discovery.ts';
import type { OpenAPI } from './openapi.ts';
import { send } from './respond.ts';

export interface ServerContext {
  store: Store;
  registry: Registry;
  hub: WatchHub;
  discovery: Discovery;
  openapi: OpenAPI;
  authorizer: RBACAuthorizer;
  tokens: Tokens;
  accountTokens: AccountTokens;
  clock: Clock;
  log: Logger;
  /** Whether it serves yet, and still does. */
  ready: () => boolean;
}

/** One request with what is known of it before its body is read. */
export interface Exchange {
  request: ServerRequest;
  response: ServerAnswer;
  path: string;
  query: URLSearchParams;
  user: User;
  warnings: string[];
}

export function notFound(exchange: Exchange): void {
  send(exchange.response, 404, '404 page not found\n', { contentType: 'text/plain; charset=utf-8' });
}

/** The body of a request as JSON text. */
export async function readText(exchange: Exchange): Promise<string> {
  return jsonText(await readBody(exchange.request), exchange.request.headers['content-type']);
}
