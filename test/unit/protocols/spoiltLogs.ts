/** Makes slightly damaged logs. A decoder must read a damaged log as ethers does, or reject it. */
import fc from 'fast-check';

import type { Words } from './reference';

/** Overwrites one hex digit of the data or of a topic. */
export const oneDigitOff = (anyLog: fc.Arbitrary<Words>): fc.Arbitrary<Words> =>
  fc
    .tuple(anyLog, fc.nat(), fc.nat(), fc.constantFrom(...'0123456789abcdef'))
    .map(([{ topics, data }, which, where, digit]): Words => {
      const put = (text: string): string => {
        if (text.length <= 2) return text;
        const position = 2 + (where % (text.length - 2));
        return text.slice(0, position) + digit + text.slice(position + 1);
      };
      const index = which % (topics.length + 1);
      const changed = topics.map((topic, place) => (place === index ? put(topic) : topic));
      return { topics: changed, data: index === topics.length ? put(data) : data };
    });

/** Moves, drops, doubles and cuts topics and words of data. */
export const otherLayout = (anyLog: fc.Arbitrary<Words>): fc.Arbitrary<Words> =>
  fc
    .tuple(
      anyLog,
      fc.constantFrom(
        'drop topic',
        'double topic',
        'topic into data',
        'cut',
        'lengthen',
        'word off',
        'word on',
      ),
      fc.nat(),
    )
    .map(([{ topics, data }, change, where]): Words => {
      const index = topics.length === 1 ? 0 : 1 + (where % (topics.length - 1));
      const topic = topics[index] ?? '';
      const moved = topic.slice(2);
      const others = topics.filter((_each, place) => place !== index);
      switch (change) {
        case 'drop topic':
          return { topics: others, data };
        case 'double topic':
          return { topics: [...topics, topic], data };
        case 'topic into data':
          return { topics: others, data: where % 2 === 0 ? `0x${moved}${data.slice(2)}` : data + moved };
        case 'cut':
          return { topics, data: data.slice(0, 2 + 2 * (where % Math.max(1, (data.length - 2) / 2))) };
        case 'lengthen':
          return { topics, data: data + '00'.repeat(1 + (where % 40)) };
        case 'word on':
          return { topics, data: data + where.toString(16).padStart(64, '0') };
        default:
          return { topics, data: data.slice(0, -64) };
      }
    });
