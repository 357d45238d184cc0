import {
  ACCEPTED,
  CPU_PATTERN,
  LIMIT_FIELDS,
  MEMORY_PATTERN,
  PIDS_PATTERN,
  type LimitField,
} from './quantity.ts';

/**
 * CEL rules for API servers: the same refusals as limits.ts, for every client, strict or not (L1, L3). An API
 * server bounds the estimated cost of each rule, and takes a value of x-kubernetes-int-or-string for a string of
 * 3 MB: that leaves about 120 characters of regular expression for one rule.
 */
export interface ValidationRule {
  rule: string;
  message: string;
  messageExpression?: string;
  fieldPath?: string;
}

/**
 * An API server drops a message with a line break in it, and would say one that does not name the value. More than one
 * `replace` is beyond its bound of cost.
 */
const ONE_LINE = String.raw`.replace('\n', '\\n')`;

const keys = LIMIT_FIELDS.map((key) => `'${key}'`).join(', ');

const knownKeys: ValidationRule = {
  rule: `self.all(key, key in [${keys}])`,
  message: `unknown key; accepted keys: ${LIMIT_FIELDS.join(', ')}`,
  messageExpression: `'unknown key "' + self.filter(key, !(key in [${keys}]))[0] + '"; accepted keys: ${LIMIT_FIELDS.join(', ')}'`,
};

const cpu = refusal(
  'cpu',
  `type(self['cpu']) == int ? self['cpu'] >= 1 && self['cpu'] <= 999999 : string(self['cpu']).matches('${cel(CPU_PATTERN)}')`,
);

const pids = refusal(
  'pids',
  `type(self['pids']) == int ? self['pids'] >= 2 && self['pids'] <= 4194304 : string(self['pids']).matches('${cel(PIDS_PATTERN)}') && int(self['pids']) >= 2 && int(self['pids']) <= 4194304`,
);

const memory = refusal('memory', `string(self['memory']).matches('${cel(MEMORY_PATTERN)}')`);

/** The number and its suffix, where the form is right (the rule above speaks where it is not). */
const number = `(m.matches('[a-zA-Z]{2}$') ? m.substring(0, m.size() - 2) : m.matches('[a-zA-Z]$') ? m.substring(0, m.size() - 1) : m)`;
const unit = [
  ...units(['Ki', 'kb'], '1024.0'),
  ...units(['k'], '1000.0'),
  ...units(['Mi', 'mb', 'm'], '1048576.0'),
  ...units(['M'], '1000000.0'),
  ...units(['Gi', 'gb', 'g'], '1073741824.0'),
  ...units(['G'], '1000000000.0'),
  ...units(['Ti', 'tb', 't'], '1099511627776.0'),
  ...units(['T'], '1000000000000.0'),
].join('');
const hasForm = `m.matches('${cel(MEMORY_PATTERN)}')`;

/** A double is exact enough: other rules see to whole bytes, so less than one byte of slack decides nothing. */
const memoryRange = refusal(
  'memory',
  `[string(self['memory'])].all(m, !${hasForm} || [double(${number}) * (${unit}1.0)].all(bytes, bytes > 6291455.5 && bytes < 4503599627370497.0))`,
  false,
);

/** Decimals of a unit of 1000^n: as many digits as it has zeros, then zeros alone. */
const memoryWholeDecimal = refusal(
  'memory',
  `!string(self['memory']).matches('[.][0-9]+[kMGT]?$') || string(self['memory']).matches('[.](0+|[0-9]{1,3}0*k|[0-9]{1,6}0*M|[0-9]{1,9}0*G|[0-9]{1,12}0*T)$')`,
  false,
);

const FIVES = Array.from({ length: 19 }, (_, power) => 5n ** BigInt(power)).join(', ');
const TWOS = Array.from({ length: 19 }, (_, power) => 2n ** BigInt(power)).join(', ');
/** f digits of a fraction times 2^n is whole when 5^f divides them and 2^f divides the rest times 2^n. */
const memoryWholeBinary = refusal(
  'memory',
  `[string(self['memory'])].all(m, !m.matches('^[0-9]{1,16}[.][0-9]{1,18}([KMGT]i|[kmgt]b|[mgt])$') || ` +
    `[${number}.split('.')[1]].all(f, int(f) % [${FIVES}][f.size()] == 0 && int(f) / [${FIVES}][f.size()] * ` +
    `(m.matches('(Ti|tb?)$') ? 1099511627776 : m.matches('(Gi|gb?)$') ? 1073741824 : m.matches('(Mi|mb?)$') ? 1048576 : 1024) % [${TWOS}][f.size()] == 0))`,
  false,
);

/** For `resources`, a map. */
export const limitRules: ValidationRule[] = [
  knownKeys,
  cpu,
  memory,
  memoryRange,
  memoryWholeDecimal,
  memoryWholeBinary,
  pids,
];

/** The same for `reserved`, an object with typed keys. */
export const reservedRules: ValidationRule[] = [
  cpu,
  memory,
  memoryRange,
  memoryWholeDecimal,
  memoryWholeBinary,
].map(({ rule, message, messageExpression, fieldPath }) => ({
  rule: ofObject(rule),
  message,
  ...(fieldPath !== undefined && { fieldPath }),
  ...(messageExpression !== undefined && { messageExpression: ofObject(messageExpression) }),
}));

export const valueOrSourceRule: ValidationRule = {
  rule: '!(has(self.value) && has(self.valueFrom))',
  message: 'value and valueFrom exclude each other: give one of them',
};

/** Where nothing may be mounted over: the kernel's own filesystems, and the place of our init. */
export const RESERVED_PATH = '^/+((proc|sys|dev|[.]holdfast)(/|$)|$)';
/** Such a path could lead there all the same. */
export const DOT_PART = '/[.]{1,2}(/|$)';
export const WORKSPACE_PATH_ACCEPTED =
  'an absolute path without . or .. in it, outside /proc, /sys, /dev and /.holdfast';

export const workspacePathRule: ValidationRule = {
  rule: `!has(self.path) || (!self.path.matches('${RESERVED_PATH}') && !self.path.matches('${DOT_PART}'))`,
  message: `path is refused; accepted: ${WORKSPACE_PATH_ACCEPTED}`,
  messageExpression: `'path: "' + self.path + '" is refused; accepted: ${WORKSPACE_PATH_ACCEPTED}'`,
};

export const setupNeedsInitRule: ValidationRule = {
  rule: '!(has(self.setup) && has(self.init) && self.init == false)',
  message: 'setup needs init: remove setup, or leave init out',
  fieldPath: '.setup',
};

/** `speaksOfNull`: of several rules for one key, one alone refuses null, and the others let it pass. */
function refusal(key: LimitField, accepted: string, speaksOfNull = true): ValidationRule {
  const message = `is refused; accepted: ${ACCEPTED[key]}`;
  const value = `(self['${key}'] == null ? 'null' : type(self['${key}']) == string ? '"' + string(self['${key}'])${ONE_LINE} + '"' : string(self['${key}']))`;
  return {
    rule: `!('${key}' in self) || ${speaksOfNull ? `self['${key}'] != null && (` : `self['${key}'] == null || (`}${accepted})`,
    message: `${key} ${message}`,
    messageExpression: `'${key}: ' + ${value} + ' ${message.replaceAll("'", "\\'")}'`,
  };
}

function ofObject(text: string): string {
  return text
    .replaceAll(/'(cpu|memory)' in self/g, 'has(self.$1)')
    .replaceAll(/self\['(cpu|memory)'\]/g, 'self.$1');
}

function units(suffixes: string[], factor: string): string[] {
  return suffixes.map((suffix) => `m.endsWith('${suffix}') ? ${factor} : `);
}

/** Text of a regular expression inside a CEL string literal. */
function cel(pattern: string): string {
  return pattern.replaceAll('\\', '\\\\');
}
