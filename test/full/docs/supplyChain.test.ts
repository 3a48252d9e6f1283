/** Every package, image and action that the project takes from others is named exactly, and no package runs a script at installation. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { listFiles, ROOT, textOf } from '../../support/documents';

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
}

const LOCKS = [
  'package-lock.json',
  ...listFiles('test', /^package-lock\.json$/),
  ...listFiles('scripts', /^package-lock\.json$/),
];
/**
 * Binaries of the embedded engine for other platforms. The registry that made this lock file does not have them, so
 * their hashes are unknown. A Mac or an ARM machine installs them by their version alone; SECURITY.md says so.
 */
const WITHOUT_HASH = ['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu'].map((name) => `@chdb/lib-${name}`);

const readLock = (path: string): [name: string, locked: Locked][] =>
  Object.entries((JSON.parse(textOf(path)) as Lock).packages).filter(([name]) => name !== '');
const nameOf = (path: string): string => path.replace(/^.*node_modules\//, '');

test.each(LOCKS)('%s has the hash of every package, and no address of a registry', (path) => {
  const packages = readLock(path);
  expect(packages.length).toBeGreaterThan(0);
  const unhashed = packages.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ''));
  const names = unhashed.map(([name]) => nameOf(name));
  expect(names.filter((name) => !WITHOUT_HASH.includes(name))).toEqual([]);
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test('package.json names every package with an exact version', () => {
  const manifest = JSON.parse(textOf('package.json')) as Record<string, Record<string, string>>;
  const versions = Object.entries({ ...manifest['dependencies'], ...manifest['devDependencies'] });
  expect(
    versions.filter(([, version]) => !/^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
  ).toEqual([]);
});

test('no package runs a script when it is installed', () => {
  expect(textOf('.npmrc').split('\n')).toContain('ignore-scripts=true');
  const installer = textOf('test/support/server/installProject.ts');
  expect(installer).toContain("['ci', '--ignore-scripts',");
});

test('images are named by their full version, and base images of the build by their digest', () => {
  const compose = [...textOf('docker-compose.yml').matchAll(/^\s+image: (\S+)$/gm)].map(
    ([, image = '']) => image,
  );
  const others = compose.filter((image) => image !== 'candlehouse:local');
  expect(others.length).toBeGreaterThan(3);
  expect(others.filter((image) => !/:(\$\{\w+:-)?v?\d+\.\d+\.\d+(\.\d+)?\}?$/.test(image))).toEqual([]);
  const bases = [...textOf('scripts/docker/Dockerfile').matchAll(/^FROM (\S+)/gm)].map(
    ([, image = '']) => image,
  );
  expect(bases.filter((image) => !/:\d+\.\d+\.\d+-[\w-]+@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
});

test('actions of the workflows are named by their commit', () => {
  const uses = listFiles('.github/workflows', /\.yml$/)
    .flatMap((path) => [...textOf(path).matchAll(/uses: (\S+)/g)])
    .map(([, action = '']) => action);
  expect(uses.length).toBeGreaterThan(0);
  expect(uses.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
});

test('the build lists the packages that the program needs, with their hashes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sbom-'));
  const file = join(folder, 'sbom.cdx.json');
  try {
    execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), '--sbom', file], { cwd: ROOT });
    const { components } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly components: readonly {
        readonly name: string;
        readonly version: string;
        readonly hashes?: unknown[];
      }[];
    };
    const manifest = JSON.parse(textOf('package.json')) as { readonly dependencies: Record<string, string> };
    const listed = components.map(({ name, version }) => `${name}@${version}`);
    const direct = Object.entries(manifest.dependencies).map(([name, version]) => `${name}@${version}`);
    expect(listed).toEqual(expect.arrayContaining(direct));
    const unhashed = components.filter(({ hashes = [] }) => hashes.length === 0).map(({ name }) => name);
    expect(unhashed.filter((name) => !WITHOUT_HASH.includes(name))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
