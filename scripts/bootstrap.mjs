/**
 * Start script of `npm start`, `npm test`, `npm run test:full`, `bench`, `attack`, `kills`, `soak`, `fuzz`, `pictures` and `protocols`. Installs missing
 * packages by the lock file, rebuilds if a source is newer than the build, then runs the program. This is plain
 * JavaScript, because no package may be installed yet.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [task = 'start', ...taskArguments] = process.argv.slice(2);

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 18)) {
  console.error(`Candlehouse needs Node 20.18 or later; this is ${process.version}.`);
  process.exit(1);
}

/** Runs a command and waits; exits with its code if it fails. */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Installs by the lock file, unless the stamp shows that this lock file is installed. */
function install() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const wantedHash = createHash('sha256').update(lock).digest('hex');
  const stampFile = join(root, 'node_modules', '.candlehouse-lock');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wantedHash) return;
  console.error('Installing dependencies (npm ci) …');
  run(process.platform === 'win32' ? 'npm.cmd' : 'npm', [
    'ci',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, wantedHash);
}

/** Modification time in ms of the file, or of the newest file in the folder. */
function newestChange(path) {
  const facts = statSync(path);
  if (!facts.isDirectory()) return facts.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestChange(join(path, name))));
}

/** Whether `output` is missing or older than a source file. */
function isOutdated(output, sources) {
  const file = join(root, output);
  if (!existsSync(file)) return true;
  return Math.max(...sources.map((path) => newestChange(join(root, path)))) > statSync(file).mtimeMs;
}

function build() {
  if (!isOutdated('dist/main.js', ['src', 'scripts/build.mjs', 'scripts/buildWeb.mjs'])) return;
  console.error('Building Candlehouse …');
  run(process.execPath, [join(root, 'scripts', 'build.mjs')]);
}

/** Compiling checks no types, so the tests do. */
function checkTypes() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  for (const project of ['tsconfig.json', join('src', 'web', 'tsconfig.json')])
    run(process.execPath, [compiler, '--noEmit', '-p', project]);
}

/** Compiles the benchmarks and the other programs in scripts. */
function buildTools() {
  if (!isOutdated('build/scripts/bench/main.js', ['src', 'scripts', 'test/support'])) return;
  console.error('Building the test and benchmark tools …');
  run(process.execPath, [join(root, 'scripts', 'build.mjs'), '--tools']);
}

/**
 * Runs a Node program and forwards signals and its exit code. A long-running program (`isWatched`) also ends when this
 * script or its npm is killed: the program sees its IPC channel close.
 */
function handOver(args, isWatched = false) {
  const stdio = isWatched ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit';
  const child = spawn(process.execPath, args, { cwd: root, stdio });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
  // Under npm, the program ends when the parent of this script is gone. Without npm the parent is not watched, because
  // a caller may end on purpose while the program runs on.
  const parent = process.ppid;
  if (!isWatched || process.env.npm_lifecycle_event === undefined) return;
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM');
  }, 1_000).unref();
}

install();
if (task === 'gate' || task === 'full') {
  build();
  checkTypes();
  if (task === 'full' || taskArguments.some((path) => path.includes('test/full'))) buildTools();
  handOver([join(root, 'scripts', 'runTests.mjs'), task, ...taskArguments]);
} else if (task === 'bench') {
  build();
  buildTools();
  handOver([join(root, 'build', 'scripts', 'bench', 'main.js'), ...taskArguments]);
} else if (task === 'fuzz') {
  buildTools();
  handOver([join(root, 'scripts', 'fuzz.mjs'), ...taskArguments]);
} else if (['kills', 'soak', 'attack', 'pictures', 'protocols'].includes(task)) {
  build();
  buildTools();
  handOver([join(root, 'build', 'scripts', `${task}.js`), ...taskArguments]);
} else {
  build();
  const settings = process.env.ENV_FILE || join(root, '.env');
  if (existsSync(settings)) process.loadEnvFile(settings);
  const command = process.env.RPC_URL || process.env.CHAINS ? 'all' : 'dev';
  handOver([join(root, 'dist', 'main.js'), command, ...taskArguments], true);
}
