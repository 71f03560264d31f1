// What browsers, workers and node all have beside the language: folders without a DOM may use it too.
declare function structuredClone<T>(value: T): T;
declare function queueMicrotask(callback: () => void): void;
declare function setTimeout(callback: () => void, milliseconds: number): number;
declare function clearTimeout(timer: number): void;
declare const performance: { now(): number };
declare class URLSearchParams implements Iterable<[string, string]> {
  constructor(text: string);
  [Symbol.iterator](): Iterator<[string, string]>;
}
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
}
declare class TextDecoder {
  decode(bytes: ArrayBufferView): string;
}
