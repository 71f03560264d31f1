// The JSON of a network and the source that a picture draws from. page_data.py and lenet_source.js make them.
type NetworkReads = {
  how: string;
  kernel_size?: number[];
  stride?: number[];
  padding?: number[][];
  dilation?: number[];
  groups?: number;
  per_channel?: boolean;
  transposed?: boolean;
  mode?: string;
  divisor?: number; // of an average pooling, if not the size of its window; 0: how many of its cells there are
  axis?: number;
  offsets?: number[];
  order?: number[];
  start?: number[];
  step?: number[];
  taken?: number[]; // how much along each axis of the source
  axes?: number[];
  drop?: number[];
  align_corners?: boolean;
  size?: number[];
  scale?: number[];
};
type NetworkSize = number | string | null;
type NetworkOperation = {
  index: number;
  kind: string;
  name: string;
  module: string;
  label?: string;
  sources: number[];
  shape: number[];
  reads: NetworkReads;
  weight: { shape: number[]; norm: number; trained: boolean } | null;
  opens: string;
  rms: NetworkSize;
  zeros: number;
  rule?: Record<string, any>;
};
type NetworkPacked = {
  shape: number[];
  channels: number[];
  cells?: number[];
  scale?: number;
  data?: string;
  values?: ArrayLike<number>;
  zeros?: string; // "exact": what is drawn as 0 is 0
  parts?: NetworkPacked[]; // what came later, too
};
type NetworkFrom = { kind: string; operation?: number; cell?: number[] };
type NetworkBack = {
  from: NetworkFrom;
  planes: (NetworkPacked | null)[];
  rms: NetworkSize[];
  zeros: (number | null)[];
  weights: Record<string, { ratio: NetworkSize; norm?: NetworkSize }>;
};
type NetworkSaid = { id: string; args: Record<string, any> };
type NetworkData = {
  model: string;
  batch: number;
  sample: number;
  operations: NetworkOperation[];
  planes: (NetworkPacked | null)[];
  backs: NetworkBack[];
  weights?: Record<number, NetworkPacked>; // of linear layers
  finding: NetworkSaid | null;
  said: NetworkSaid[];
  live?: boolean;
  labels?: string[];
};
type NetworkWindow = {
  origin: number[];
  values: number[][];
  gradients: number[][];
  exact: boolean;
};
type NetworkSource = {
  network: NetworkData;
  back: (from: NetworkFrom) => Promise<NetworkBack>;
  canSend: (from: NetworkFrom) => boolean;
  window?: (operation: number, cell: number[], back: NetworkBack) => Promise<NetworkWindow | null>;
  channels?: (operation: number) => Promise<void>; // all of them, from now on
  inputs?: { label: string | number; ink?: ArrayLike<number>; size?: number[] }[];
  chosen?: number;
  input?: (index: number) => unknown;
  open: ((operation: number, cell: number[], back: NetworkBack) => Promise<unknown> | void) | null;
  close: () => void;
};
