import { writeFileAtomic } from '../files.ts';

/** Writes a kubeconfig that only its owner can read, whole or not at all. JSON is YAML. */
export function writeKubeconfig(
  path: string,
  options: { server: string; ca: string; user: string; token: string },
): void {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'local',
        cluster: {
          server: options.server,
          'certificate-authority-data': Buffer.from(options.ca).toString('base64'),
        },
      },
    ],
    users: [{ name: options.user, user: { token: options.token } }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: options.user } }],
    'current-context': 'local',
  };
  writeFileAtomic(path, `${JSON.stringify(config, null, 2)}\n`, 0o600);
}
