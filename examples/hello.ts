/**
 * The smallest application: a greeting at `/api/`.
 *
 *     deno run -A examples/hello.ts
 *     curl http://localhost:3000/api/
 */
import { controller, FwFactory, inject, module, portFromEnv, route } from "../mod.ts";

class GreetingService {
  greeting(): string {
    return "Hello from fw";
  }
}

class GreetingController extends controller() {
  readonly #greetings = inject(GreetingService);

  hello = route.get("/", (_, c) => c.text(this.#greetings.greeting()));
}

export const AppModule = module({
  name: "AppModule",
  providers: [GreetingService],
  controllers: [GreetingController],
});

if (import.meta.main) {
  const app = await FwFactory.create(AppModule);
  const server = await app.setGlobalPrefix("api").listenGraceful(portFromEnv());
  console.log(`Try: curl ${server.url}/api/`);
}
