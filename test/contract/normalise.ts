import type { Response } from './client.ts';
import type { Outcome, Step } from './types.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What differs between any two runs is replaced: names of this run, times, uids, resource versions. */
export function normalise(
  step: Step,
  request: string,
  answer: Response,
  names: Map<string, string>,
): Outcome {
  const body = step.view === undefined ? answer.body : step.view(answer.body);
  const { warning } = answer.headers;
  const warnings = (Array.isArray(warning) ? warning : warning === undefined ? [] : [warning]).map((text) =>
    rename(text, names),
  );
  return {
    request: rename(request, names),
    code: answer.code,
    ...(warnings.length === 0 ? {} : { warning: warnings }),
    body: clean(body as Json, '', names),
  };
}

function rename(text: string, names: Map<string, string>): string {
  let out = text;
  for (const [value, name] of names) if (value !== '') out = out.replaceAll(value, name);
  // the type of `self` has a number of the moment in its name
  return out.replace(UID, '<uid>').replace(/selfType\d+/g, 'selfType');
}

function clean(value: Json, key: string, names: Map<string, string>): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return cleanText(value, key, names);
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const list = value.map((item) => clean(item, key, names));
    return key === 'causes' ? sortBy(list) : list;
  }
  const out: { [key: string]: Json } = {};
  for (const name of Object.keys(value).sort()) {
    if (name === 'managedFields') {
      out[name] = owners(value[name] ?? null, names);
      continue;
    }
    const item = clean(value[name] ?? null, name, names);
    // Go leaves out some empty values and JavaScript others: neither means anything.
    if (name === 'metadata' && typeof item === 'object' && item !== null && Object.keys(item).length === 0)
      continue;
    // Custom kinds say `continue: ""` at the end of a list and built-in ones leave it out: the same to clients.
    if (name === 'continue' && item === '') continue;
    out[name] = item;
  }
  return out;
}

/** Their order is that of the seconds in which they were written. */
function owners(entries: Json, names: Map<string, string>): Json {
  if (!Array.isArray(entries)) return entries;
  return sortBy(
    entries.map((entry) => {
      if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return entry;
      const { time, ...rest } = entry;
      const timeless = typeof time === 'string' && TIME.test(time) ? { ...rest, time: '<time>' } : entry;
      return JSON.parse(rename(JSON.stringify(sortKeys(timeless)), names)) as Json;
    }),
  );
}

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key] ?? null)]),
  );
}

function sortBy(list: Json[]): Json[] {
  return list
    .map((item) => [JSON.stringify(item), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item);
}

function cleanText(value: string, key: string, names: Map<string, string>): string {
  switch (key) {
    case 'resourceVersion':
      return value === '' || value === '0' ? value : '<rv>';
    case 'continue':
      return value === '' ? '' : '<continue>';
    case 'creationTimestamp':
    case 'deletionTimestamp':
    case 'lastTransitionTime':
      return TIME.test(value) ? '<time>' : value;
    case 'message':
      return sortMessage(rename(value, names));
    case 'cells':
      return /^\d+s$/.test(value) ? '<age>' : TIME.test(value) ? '<time>' : rename(value, names);
    default:
      return rename(value, names);
  }
}

/** `... is invalid: [a, b]`: Go visits maps in any order, so the parts are sorted. */
function sortMessage(text: string): string {
  const match = /^(.* is invalid: )\[(.*)\]$/s.exec(text);
  if (match === null) return text.replace(/(in record )\(\d+\)/, '$1(<rv>)');
  const parts = (match[2] ?? '').split(/, (?=(?:<nil>|[a-zA-Z]+[\w.[\]*-]*): )/);
  return `${match[1]}[${parts.sort().join(', ')}]`;
}
