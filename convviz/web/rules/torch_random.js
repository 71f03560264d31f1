// torch.randn's numbers, by seed.

const STATE = 624;
const SHIFT = 397;

/** Torch's generator on the cpu. @param {number} seed */
function createTwister(seed) {
  const state = new Uint32Array(STATE);
  state[0] = seed >>> 0;
  for (let i = 1; i < STATE; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  let next = STATE;

  function refill() {
    for (let i = 0; i < STATE; i++) {
      const bits = (state[i] & 0x80000000) | (state[(i + 1) % STATE] & 0x7fffffff);
      state[i] = state[(i + SHIFT) % STATE] ^ (bits >>> 1) ^ (bits & 1 ? 0x9908b0df : 0);
    }
    next = 0;
  }

  function bits() {
    if (next === STATE) refill();
    let word = state[next++];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  /** 53 bits, the high ones first. */
  return () => ((bits() & 0x1fffff) * 2 ** 32 + bits()) * 2 ** -53;
}

/** How torch fills a tensor of fewer than 16 numbers. @param {number} count @param {() => number} uniform */
function inPairs(count, uniform) {
  const found = [];
  while (found.length < count) {
    const angle = 2 * Math.PI * uniform();
    const radius = Math.sqrt(-2 * Math.log1p(-uniform()));
    found.push(radius * Math.cos(angle), radius * Math.sin(angle));
  }
  return found.slice(0, count);
}

/** By sixteen; the last sixteen anew if uneven. @param {number} count @param {() => number} uniform */
function inBlocks(count, uniform) {
  const found = Array.from({ length: count }, uniform);
  for (let start = 0; start + 16 <= count; start += 16) toNormal(found, start);
  if (count % 16) {
    const start = count - 16;
    for (let i = start; i < count; i++) found[i] = uniform();
    toNormal(found, start);
  }
  return found;
}

/** @param {number[]} numbers @param {number} start */
function toNormal(numbers, start) {
  for (let j = start; j < start + 8; j++) {
    const radius = Math.sqrt(-2 * Math.log(1 - numbers[j]));
    const angle = 2 * Math.PI * numbers[j + 8];
    [numbers[j], numbers[j + 8]] = [radius * Math.cos(angle), radius * Math.sin(angle)];
  }
}

/** To a tenth, as samples/inputs.py. @param {number} count @param {number} seed */
export function randomTenths(count, seed) {
  const numbers = (count < 16 ? inPairs : inBlocks)(count, createTwister(seed));
  return numbers.map((value) => roundHalfEven(value * 10) / 10 + 0);
}

/** Rounds a half to the even neighbour, as torch does. @param {number} value */
export function roundHalfEven(value) {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return rest < 0.5 ? low : low + 1;
  return low % 2 ? low + 1 : low;
}
