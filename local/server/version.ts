/** The Kubernetes release whose API this server follows. */
const MAJOR = '1';
const MINOR = '37';

export function versionInfo(): string {
  return JSON.stringify({
    major: MAJOR,
    minor: MINOR,
    gitVersion: `v${MAJOR}.${MINOR}.0+holdfast`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  });
}
