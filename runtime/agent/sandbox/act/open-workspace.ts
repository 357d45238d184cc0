import { DriverError } from '../../../driver.ts';
import { LABELS, ownLabels, workspaceFiller, workspaceVolume } from '../../names.ts';
import { OPEN_PATH } from '../../probe/image.ts';
import type { ActContext } from './context.ts';

/**
 * Makes an empty workspace writable for every user (0777, as Kubernetes' emptyDir): a fresh volume belongs to root. An
 * empty volume takes over the mode of the folder that it is first mounted on, so a container is made that mounts it on
 * such a folder of the probe's image; it is never started. Putting an archive into the sandbox's own container would
 * not do: the runtime leaves the topmost folder of an archive as it is, and what is above it may be read-only.
 */
export async function openWorkspace(context: ActContext): Promise<void> {
  const { services, run, runtime } = context;
  const call = { signal: services.signal };
  const name = workspaceFiller(run.uid);
  const make = (): Promise<unknown> =>
    runtime.driver.createContainer(
      {
        name,
        image: runtime.probe.image,
        // Without the sandbox's uid: what happens to it is no event of the sandbox.
        labels: { ...ownLabels(services.nodeName), [LABELS.role]: 'workspace' },
        entrypoint: ['/never-started'],
        command: [],
        env: [],
        workingDir: '/',
        user: '0:0',
        limits: {},
        mounts: [
          {
            type: 'volume',
            source: workspaceVolume(run.uid),
            target: OPEN_PATH,
            readOnly: false,
            fillFromImage: true,
          },
        ],
        readOnlyRootFilesystem: true,
        capabilities: [],
        networkDisabled: true,
      },
      call,
    );
  await services.step('open-workspace', async () => {
    try {
      await make();
    } catch (error) {
      if (!(error instanceof DriverError) || error.code !== 'Conflict') throw error;
      // Of an agent that died just then: whether the volume was opened is not known.
      await closeFiller(context);
      await make();
    }
  });
}

/** No error when there is none. Somebody else's container of that name is left alone, and then is in the way. */
export async function closeFiller({ services, run, runtime }: ActContext): Promise<void> {
  const call = { signal: services.signal };
  const found = await runtime.driver.inspectContainer(workspaceFiller(run.uid), call);
  if (found?.labels[LABELS.role] !== 'workspace') return;
  await services.step('remove-filler', () => runtime.driver.removeContainer(found.id, call));
}
