/** The object with one member replaced; its other methods are called on the object itself. */
export function replaced<T extends object>(object: T, name: keyof T, member: unknown): T {
  return new Proxy(object, {
    get(target, asked) {
      if (asked === name) return member;
      const own: unknown = Reflect.get(target, asked, target);
      return typeof own === "function" ? own.bind(target) : own;
    },
  });
}
