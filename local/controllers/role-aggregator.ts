import { ANONYMOUS } from '../auth/user.ts';
import { isRecord, type StoredObject } from '../object.ts';
import { kindId } from '../registry/kind.ts';
import type { NamedCall } from '../rest/call.ts';
import { apply } from '../rest/apply.ts';
import { deepEqual, type Json } from '../schema/json.ts';
import { type LabelSelector, matchesLabels } from '../selectors/label.ts';
import type { ControllerContext } from './context.ts';
import { Work } from './work.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLES = kindId(GROUP, 'clusterroles');
const MANAGER = 'clusterrole-aggregation-controller';
const ALL = 'all';

/** Gives a ClusterRole with an aggregationRule the rules of those that it selects, and takes them back. */
export class RoleAggregator {
  readonly #context: ControllerContext;
  readonly #work: Work;
  readonly #unsubscribe: () => void;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#work = new Work(() => this.#aggregate(), context.log);
    this.#unsubscribe = context.store.subscribe((changes) => {
      if (changes.some(({ resource }) => resource === ROLES)) this.#work.add(ALL);
    });
    this.#work.add(ALL);
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#work.stop();
  }

  async #aggregate(): Promise<void> {
    const roles = this.#context.store
      .page(ROLES, { prefix: '', limit: -1 })
      .map((row) => JSON.parse(row.body) as StoredObject);
    for (const role of roles) {
      const rules = rulesFor(role, roles);
      if (rules !== undefined && !deepEqual(rules, (role['rules'] ?? []) as Json))
        await this.#write(role.metadata.name, rules);
    }
  }

  async #write(name: string, rules: Json[]): Promise<void> {
    const served = this.#context.registry.find(GROUP, 'v1', 'clusterroles');
    if (served === undefined) return;
    const call: NamedCall = {
      ...served,
      namespace: undefined,
      name,
      subresource: undefined,
      query: new URLSearchParams(),
      user: ANONYMOUS,
      dryRun: false,
      fieldManager: MANAGER,
      force: true,
      fieldValidation: 'Ignore',
      warnings: [],
      admit: () => undefined,
    };
    const value: Json = {
      apiVersion: `${GROUP}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules,
    };
    await apply(call, { value, repeated: [] }, { ...this.#context, mayCreate: () => undefined });
  }
}

/** Undefined: the role has rules of its own. */
function rulesFor(role: StoredObject, roles: readonly StoredObject[]): Json[] | undefined {
  const rule = role['aggregationRule'];
  if (!isRecord(rule)) return undefined;
  const selectors = Array.isArray(rule['clusterRoleSelectors']) ? rule['clusterRoleSelectors'] : [];
  const out: Json[] = [];
  for (const selector of selectors.map(readSelector)) {
    if (selector === undefined) continue;
    for (const other of roles) {
      if (other.metadata.name === role.metadata.name || !matchesLabels(selector, other.metadata.labels))
        continue;
      for (const each of (Array.isArray(other['rules']) ? other['rules'] : []) as Json[])
        if (!out.some((known) => deepEqual(known, each))) out.push(each);
    }
  }
  return out;
}

const OPERATORS: Record<string, LabelSelector[number]['operator']> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/** A `metav1.LabelSelector`. Undefined: it selects nothing. */
function readSelector(value: unknown): LabelSelector | undefined {
  if (!isRecord(value)) return undefined;
  const labels = isRecord(value['matchLabels']) ? value['matchLabels'] : {};
  const selector: LabelSelector = Object.entries(labels).map(([key, label]) => ({
    key,
    operator: '=',
    values: [String(label)],
  }));
  for (const each of Array.isArray(value['matchExpressions']) ? value['matchExpressions'] : []) {
    const operator = isRecord(each) ? OPERATORS[String(each['operator'])] : undefined;
    if (!isRecord(each) || operator === undefined) return undefined;
    const values = Array.isArray(each['values']) ? each['values'].map(String) : [];
    selector.push({ key: String(each['key']), operator, values });
  }
  return selector;
}
