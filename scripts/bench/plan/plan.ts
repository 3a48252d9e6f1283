/** `npm run bench -- plan`: prints what more swaps, chains and readers need. Computes only, and starts no engine. */
import { listBreakPoints, roomOf } from './breakPoints';
import { parsePlanInput, planUsage, type PlanInput } from './planInput';
import { planNumbers } from './planNumbers';
import { listResources } from './resources';
import { showNumber, toTable } from './planRow';

/** Returns the text of the plan. Throws a RangeError for a wrong option. */
export function planText(args: readonly string[]): string {
  if (args.includes('--help')) return `${planUsage()}\n`;
  const input = parsePlanInput(args);
  const numbers = planNumbers(input);
  const resources = listResources(input, numbers);
  const points = listBreakPoints(input, numbers);
  return [
    `Plan for ${describe(input)}\n`,
    toTable(
      ['resource', 'formula', 'figure', 'one machine, shard or process ends at'],
      resources.map(({ resource, formula, figure, end }) => [resource, formula, figure, end]),
    ),
    '\nWhat breaks first (room: how many times the plan fits into the limit)\n',
    toTable(
      ['where the design breaks', 'measured by', 'limit', 'plan', 'room'],
      points.map((point) => [
        point.subject,
        point.formula,
        `${showNumber(point.limit)} ${point.unit}`,
        showNumber(point.planned),
        shownRoom(roomOf(point)),
      ]),
    ),
    '',
  ].join('\n');
}

const shownRoom = (room: number): string => (Number.isFinite(room) ? `${showNumber(room)}x` : 'no limit');

function describe(input: PlanInput): string {
  const parts = Object.entries(input).map(([name, value]) => `--${name} ${value}`);
  return parts.join(' ');
}
