// The bundle, and a page with it, reads some folders as the list of their files: convviz/facts/__init__.py.
declare module "*/facts/data/mistakes.json" {
  const MISTAKES: {
    id: string;
    of: string;
    title: string;
    fix: string;
    setting: string;
    met: string[];
    ways: Record<string, string>[];
  }[];
  export default MISTAKES;
}
declare module "*/facts/data/features.json" {
  const FEATURES: {
    name: string;
    label: string;
    entry: string;
    order: number;
    works: "torch" | "page" | "notebook";
    band?: string;
    slow?: boolean | number;
    state?: string;
    terms?: string[];
  }[];
  export default FEATURES;
}
