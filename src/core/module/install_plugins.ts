/**
 * Installing the plugins of an application.
 *
 * @module
 */
import type { Hono, MiddlewareHandler } from "hono";
import { inOrder, type Plugin, type PluginHost } from "./plugin.ts";
import { joinHooked } from "./request_hooks.ts";

const LOAD = Symbol("fw.loadMiddleware");

/** A plugin that installs one middleware, which sees every request. */
export interface MiddlewarePlugin extends Plugin {
  readonly [LOAD]: () => MiddlewareHandler | Promise<MiddlewareHandler>;
}

/** Returns a plugin whose middleware is loaded when the application starts to serve. */
export function middlewarePlugin(
  { load, ...plugin }: Pick<Plugin, "slot" | "key"> & {
    readonly load: MiddlewarePlugin[typeof LOAD];
  },
): MiddlewarePlugin {
  return { ...plugin, [LOAD]: load, install: async (router) => void router.use(await load()) };
}

/**
 * Installs plugins in the order of requests, after `first`. Neighbours that consist of hooks are
 * joined to one function.
 */
export async function installAll(
  plugins: readonly Plugin[],
  { router, host, first }: {
    readonly router: Hono;
    readonly host: PluginHost;
    readonly first: readonly MiddlewareHandler[];
  },
): Promise<void> {
  let unjoined: MiddlewareHandler[] = [...first];
  const flush = () => {
    if (unjoined.length > 0) router.use(...joinHooked(unjoined));
    unjoined = [];
  };
  for (const plugin of inOrder(plugins)) {
    if (isMiddlewarePlugin(plugin)) {
      unjoined.push(await plugin[LOAD]());
      continue;
    }
    flush();
    await plugin.install(router, host);
  }
  flush();
}

function isMiddlewarePlugin(plugin: Plugin): plugin is MiddlewarePlugin {
  return LOAD in plugin;
}
