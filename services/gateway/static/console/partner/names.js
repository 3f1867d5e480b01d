// Names for ids: read as they are needed, many at once, and kept. `get` answers at once; a page draws again when more are known.
const MOST = 3000;

export class Names {
  constructor(api, may) {
    Object.assign(this, { api, may, known: new Map(), wanted: new Set(), timer: 0, lists: new Map() });
  }
  // The object itself, null where it cannot be read, undefined while it is on its way.
  get(kind, id) {
    if (!id) return null;
    const key = `${kind}:${id}`;
    if (this.known.has(key)) return this.known.get(key);
    if (!this.may(kind === "class" ? "schedule:read" : "members:read")) return null;
    this.wanted.add(key);
    this.timer ||= setTimeout(() => this.read(), 15);
    return undefined;
  }
  learn(kind, rows) {
    for (const row of rows) this.known.set(`${kind}:${row.id}`, row);
    while (this.known.size > MOST) this.known.delete(this.known.keys().next().value);
  }
  async read() {
    this.timer = 0;
    const asked = [...this.wanted].slice(0, 100);
    for (const key of asked) { this.wanted.delete(key); this.known.set(key, undefined); }
    const classes = asked.filter((key) => key.startsWith("class:")).map((key) => key.slice(6));
    const members = asked.filter((key) => key.startsWith("member:")).map((key) => key.slice(7));
    await Promise.all([
      classes.length && this.api.get("/classes", { ids: classes.join(","), limit: 100 }).then((page) => this.learn("class", page.data), () => {}),
      ...members.map((id) => this.api.get(`/members/${id}`).then((one) => this.learn("member", [one]), () => {})),
    ]);
    for (const key of asked) if (this.known.get(key) === undefined) this.known.set(key, null);
    window.dispatchEvent(new Event("st-zone"));
    if (this.wanted.size) this.timer ||= setTimeout(() => this.read(), 15);
  }
  // rooms, locations, instructors, class-types, event-types: whole lists, read once.
  list(path) {
    if (!this.lists.has(path)) {
      const page = path === "event-types" ? this.api.get("/event-types").then((answer) => answer.data) : this.api.all(`/${path}`, {}, 1000).then(({ rows }) => rows);
      this.lists.set(path, page.catch(() => { this.lists.delete(path); return []; }));
    }
    return this.lists.get(path);
  }
  async map(path) { return new Map((await this.list(path)).map((row) => [row.id, row])); }
}
export const personName = (member) => (member ? member.name || `${member.first_name} ${member.last_name || ""}`.trim() : "");
