// The bundle, and a page with it, reads a folder of facts as the list of its files: convviz/facts/__init__.py.
declare module "*/facts/mistakes.json" {
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
