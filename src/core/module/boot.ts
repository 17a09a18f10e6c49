/**
 * Booting: from a root module to built providers and routes that are ready to be mounted.
 *
 * @module
 */
import { Container, type ContainerOptions } from "./container.ts";
import { declarationOf, routesOf } from "../route/controller.ts";
import { runStopHooks, StartHooks } from "./lifecycle.ts";
import type { Module } from "./module.ts";
import { type CreateInstance, type Pipeline, resolvePipeline } from "../route/pipeline.ts";
import type { InjectionKey } from "./provider.ts";
import { declaredGuards } from "../route/route_protection.ts";
import { type BoundRoute, checkCollisions } from "../route/route_table.ts";
import type { Scope } from "./scope.ts";

/** How a module tree is booted. */
export interface BootOptions extends Pick<ContainerOptions, "overrides"> {
  /** Whether to create only the controllers, with placeholders for what they inject. */
  readonly preview?: boolean;
}

/** A booted module tree. */
export interface Kernel {
  readonly routes: readonly BoundRoute[];
  /** Whether it has only routes: there are no instances, and nothing starts. */
  readonly isPreview: boolean;
  /** Builds a class with the providers of the root module. */
  readonly create: CreateInstance;
  /** Returns an instance: the one that the root module can inject, or else that of any module. */
  get<T>(key: InjectionKey<T>): T;
  /** Lists the instances whose hooks run, in the order in which they were built. */
  instances(): readonly object[];
  /** Runs the start hooks that have not succeeded, such as those of instances that are new. */
  start(): Promise<void>;
  /**
   * Checks that every override has replaced a provider.
   *
   * @throws {TypeError} naming those that have replaced none
   */
  checkOverrides(): void;
  /** Runs the stop hooks. */
  stop(signal?: string): Promise<void>;
}

/**
 * Builds the providers and controllers of a module tree and runs their start hooks. If anything
 * fails, the instances are stopped before the error is thrown.
 */
export async function boot(
  root: Module,
  { overrides = [], preview = false }: BootOptions = {},
): Promise<Kernel> {
  const previewOf = preview ? (await import("./preview.ts")).previewOf : undefined;
  const container = new Container({ overrides, previewOf });
  try {
    const scope = await container.register(root);
    for (const each of container.scopes()) each.module.controllers.forEach(declarationOf);
    for (const each of container.scopes()) await container.build(each);
    const routes: BoundRoute[] = [];
    for (const each of container.scopes()) routes.push(...await bindRoutes(each, container));
    checkCollisions(routes);
    const hooks = new StartHooks();
    const instances = () => container.instances();
    const start = () => hooks.run(instances());
    await start();
    return {
      routes,
      isPreview: preview,
      instances,
      start,
      checkOverrides() {
        const names = container.unusedOverrides().join(", ");
        if (names) throw new TypeError(`Cannot override ${names}: no module provides it`);
      },
      create: (key) => container.instantiate(scope, key),
      get: (key) => container.get(key, scope),
      stop: (signal) => runStopHooks(instances(), { signal }),
    };
  } catch (error) {
    await runStopHooks(container.instances()).catch(() => {}); // the first error is the cause
    throw error;
  }
}

async function bindRoutes(scope: Scope, container: Container): Promise<BoundRoute[]> {
  const create: CreateInstance = (key) => container.instantiate(scope, key);
  const bound: BoundRoute[] = [];
  for (const type of scope.module.controllers) {
    const controller = declarationOf(type);
    const routes = routesOf(await create(type), controller);
    const around = await resolvePipeline(controller, create);
    for (const [handler, route] of routes) {
      const own = await resolvePipeline(route.options, create);
      const pipeline: Pipeline = {
        guards: [...around.guards, ...own.guards, ...await declaredGuards({ controller, route })],
        interceptors: [...around.interceptors, ...own.interceptors],
        filters: [...own.filters, ...around.filters],
      };
      bound.push({ module: scope.module.name, controller, handler, route, pipeline });
    }
  }
  return bound;
}
