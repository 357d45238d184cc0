import type { Sandbox } from '../../../crds/sandbox.ts';
import { API_VERSION } from '../../../crds/group.ts';
import type { EventSubject } from '../../../kube/events.ts';
import type { Run } from '../run.ts';

/** What an Event of this sandbox is about; works after the object has gone, too. */
export function subjectOf(run: Run, sandbox: Sandbox | undefined): EventSubject {
  return (
    sandbox ?? {
      apiVersion: API_VERSION,
      kind: 'Sandbox',
      metadata: { namespace: run.namespace, name: run.name, uid: run.uid },
    }
  );
}
