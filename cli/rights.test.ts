import { expect, it } from 'vitest';
import { AGENT_RIGHTS, describeRights } from './rights.ts';

it('[K7] names each verb on each resource, once', () => {
  expect(
    describeRights([
      { verb: 'get', group: 'holdfast.dev', resource: 'sandboxes' },
      { verb: 'watch', group: 'holdfast.dev', resource: 'sandboxes' },
      { verb: 'update', group: 'holdfast.dev', resource: 'sandboxes', subresource: 'status' },
      { verb: 'create', group: 'coordination.k8s.io', resource: 'leases', namespace: 'holdfast-system' },
      { verb: 'create', group: '', resource: 'events' },
      { verb: 'update', group: '', resource: 'leases', name: 'one', namespace: 'ns' },
    ]),
  ).toBe(
    'get, watch sandboxes.holdfast.dev; update sandboxes.holdfast.dev/status; ' +
      'create leases.coordination.k8s.io in holdfast-system; create events; update leases "one" in ns',
  );
});

it('[K12] an agent asks for no right to secrets, and for none to change what users want', () => {
  expect(AGENT_RIGHTS.filter(({ resource }) => resource === 'secrets')).toEqual([]);
  const writes = AGENT_RIGHTS.filter(
    ({ verb, resource, subresource }) =>
      resource === 'sandboxes' && subresource === undefined && !['get', 'list', 'watch'].includes(verb),
  );
  expect(writes).toEqual([]);
});
