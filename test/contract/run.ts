import type { Response, Server } from './client.ts';
import { normalise } from './normalise.ts';
import type { Case, Outcome, Step } from './types.ts';

export interface Target {
  server: Server;
  nobodyToken: string;
  /** The server forgets its history up to now. */
  compact(): Promise<void>;
}

const DEADLINE_MS = 90_000;

/** Runs the steps of a case in a namespace of its own; the answers come back normalised. */
export async function runCase(target: Target, test: Case): Promise<Outcome[]> {
  const suffix = `${Date.now().toString(36)}${Math.floor(Math.random() * 1e6).toString(36)}`;
  const names = new Map([[`c-${suffix}`, '${ns}']]);
  const values: Record<string, string> = { ns: `c-${suffix}`, nobodyToken: target.nobodyToken };
  await target.server.request({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `c-${suffix}` } },
  });
  const outcomes: Outcome[] = [];
  let last = 0;
  for (const step of test.steps) {
    // What was refused just now does not come about by waiting.
    const patient = step.silent !== true || last < 400;
    const { answer, request } = await send(target, step, values, patient);
    last = answer.code;
    for (const [name, path] of Object.entries(step.keep ?? {})) {
      const value = at(answer.body, path);
      values[name] = typeof value === 'string' ? value : '';
      // Numbers are too short to be replaced wherever they stand: those are normalised by their field.
      if (!/^\d*$/.test(values[name] ?? '')) names.set(values[name] ?? '', `\${${name}}`);
    }
    if (step.silent !== true) outcomes.push(normalise(step, request, answer, names));
  }
  await target.server.request({ method: 'DELETE', path: `/api/v1/namespaces/c-${suffix}` });
  return outcomes;
}

async function send(
  target: Target,
  step: Step,
  values: Record<string, string>,
  patient: boolean,
): Promise<{ answer: Response; request: string }> {
  if (step.compact === true) await target.compact();
  const request = fill(step.request, values);
  const [method = '', path = ''] = request.split(' ');
  const body = step.body === undefined ? undefined : fillBody(step.body, values);
  const call = {
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...(step.contentType === undefined ? {} : { contentType: step.contentType }),
    ...(step.accept === undefined ? {} : { accept: step.accept }),
    ...(step.headers === undefined ? {} : { headers: fillHeaders(step.headers, values) }),
    ...(step.as === undefined ? {} : { token: step.as === 'nobody' ? target.nobodyToken : '' }),
  };
  // What a request names by a kept value is shown by the name: values differ between runs.
  const shown = step.request;
  if (step.watch !== undefined) {
    const { events, bookmarks } = step.watch;
    const quiet = (all: unknown[]): unknown[] =>
      bookmarks === true ? all : all.filter((event) => (event as { type?: string }).type !== 'BOOKMARK');
    const answer = await target.server.watch(call, (all) => quiet(all).length >= events);
    return { answer: { ...answer, body: quiet(answer.body as unknown[]) }, request: shown };
  }
  const deadline = Date.now() + (patient ? DEADLINE_MS : 0);
  for (;;) {
    const answer = await target.server.request(call);
    if (step.until === undefined || answer.code === step.until || Date.now() > deadline)
      return { answer, request: shown };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function fillHeaders(
  headers: Record<string, string>,
  values: Record<string, string>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value, values)]));
}

function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\$\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
}

function fillBody(body: unknown, values: Record<string, string>): unknown {
  if (typeof body === 'string') return fill(body, values);
  if (body instanceof Uint8Array) return body;
  return JSON.parse(fill(JSON.stringify(body), values));
}

function at(body: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined,
      body,
    );
}
