/** NestJS on Express or Fastify, as its documentation writes it: DTOs, pipes, guards, interceptors. */
import "reflect-metadata";
import {
  Body,
  type CanActivate,
  ClassSerializerInterceptor,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Req,
  UnauthorizedException,
  UseGuards,
  UseInterceptors,
  ValidationPipe,
} from "@nestjs/common";
import { APP_GUARD, NestFactory, Reflector } from "@nestjs/core";
import { JwtModule, JwtService } from "@nestjs/jwt";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { ThrottlerGuard, ThrottlerModule } from "@nestjs/throttler";
import { Exclude, Expose, plainToInstance, Type } from "class-transformer";
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from "class-validator";
import { createPublicKey, randomUUID } from "node:crypto";
import { LoggerModule } from "nestjs-pino";
import { collectDefaultMetrics, Counter, Histogram } from "prom-client";
import { receipt, storedRows, TEXT } from "../fixtures.ts";
import { options, RATE_LIMIT, RATE_WINDOW_MS } from "../peers/options.ts";

const { mode, port, jwks, issuer, audience } = options;

class ItemQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit!: number;

  @IsIn(["name", "created"])
  sort!: string;
}

class Customer {
  @IsString()
  @Length(1, 100)
  name!: string;

  @IsEmail()
  email!: string;
}

class Line {
  @Matches(/^[a-z]+-\d{4}$/)
  sku!: string;

  @IsInt()
  @Min(1)
  @Max(99)
  quantity!: number;

  @IsInt()
  @Min(0)
  price!: number;
}

class NewOrder {
  @ValidateNested()
  @Type(() => Customer)
  customer!: Customer;

  @ValidateNested({ each: true })
  @Type(() => Line)
  @ArrayMinSize(1)
  @ArrayMaxSize(500)
  lines!: Line[];

  @IsOptional()
  @IsString()
  @MaxLength(500)
  note?: string;
}

@Exclude()
class RowDto {
  @Expose()
  id!: number;
  @Expose()
  name!: string;
  @Expose()
  email!: string;
  @Expose()
  active!: boolean;
  @Expose()
  score!: number;
  @Expose()
  tags!: string[];
}

interface HttpRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly method: string;
  readonly routeOptions?: { readonly url?: string };
  readonly route?: { readonly path?: string };
  user?: { readonly sub: string };
}

@Injectable()
class TokenGuard implements CanActivate {
  readonly #jwt: JwtService;

  constructor(jwt: JwtService) {
    this.#jwt = jwt;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const [type, token = ""] = request.headers["authorization"]?.split(" ") ?? [];
    if (type !== "Bearer") throw new UnauthorizedException();
    try {
      request.user = await this.#jwt.verifyAsync(token, {
        algorithms: ["ES256"],
        issuer,
        audience,
      });
    } catch {
      throw new UnauthorizedException();
    }
    return true;
  }
}

const ROWS_20 = storedRows(20);
const ROWS_1000 = storedRows(1000);

@Controller()
@UseInterceptors(ClassSerializerInterceptor)
class ContestController {
  @Get("text")
  text() {
    return TEXT;
  }

  @Get("json")
  json() {
    return { message: TEXT };
  }

  @Get("items/:id")
  item(@Param("id", ParseIntPipe) id: number, @Query() query: ItemQuery) {
    return { id, ...query };
  }

  @Post("orders")
  order(@Body() body: NewOrder) {
    return receipt(body);
  }

  @Get("rows/20")
  rows20() {
    return plainToInstance(RowDto, ROWS_20);
  }

  @Get("rows/1000")
  rows1000() {
    return plainToInstance(RowDto, ROWS_1000);
  }
}

@Controller()
class MeController {
  @Get("me")
  @UseGuards(TokenGuard)
  me(@Req() request: HttpRequest) {
    return { subject: request.user?.sub };
  }
}

function manyController(prefix: string, routes: number) {
  class ManyController {}
  for (let index = 0; index < routes; index++) {
    const name = `r${index}`;
    Object.defineProperty(ManyController.prototype, name, { value: () => TEXT, writable: true });
    const descriptor = Object.getOwnPropertyDescriptor(ManyController.prototype, name)!;
    Get(`${name}/:id`)(ManyController.prototype, name, descriptor);
  }
  Controller(prefix)(ManyController);
  return ManyController;
}

function controllers() {
  switch (mode) {
    case "routes":
      return [manyController("many", options.routes)];
    case "controllers":
      return Array.from(
        { length: options.controllers },
        (_, index) => manyController(`small${index}`, 5),
      );
    case "token":
      return [MeController];
    default:
      return [ContestController];
  }
}

const { keys: [key] } = jwks;
const publicKey = key &&
  createPublicKey({ key, format: "jwk" }).export({ type: "spki", format: "pem" });
const stack = mode === "stack";

@Module({
  imports: [
    ...publicKey
      ? [JwtModule.register({ publicKey, verifyOptions: { algorithms: ["ES256"] } })]
      : [],
    ...stack
      ? [
        LoggerModule.forRoot({ pinoHttp: { genReqId: () => randomUUID() } }),
        ThrottlerModule.forRoot([{ ttl: RATE_WINDOW_MS, limit: RATE_LIMIT }]),
      ]
      : [],
  ],
  providers: stack
    ? [{ provide: APP_GUARD, useClass: ThrottlerGuard }, {
      provide: APP_GUARD,
      useClass: TokenGuard,
    }]
    : [],
  controllers: controllers(),
})
class AppModule {}

/** Listens. */
export async function listen(): Promise<void> {
  const isFastify = process.env.PEER === "nest_fastify";
  const adapter = isFastify ? new FastifyAdapter() : new ExpressAdapter();
  const app = await NestFactory.create(AppModule, adapter, { logger: ["error"] });
  app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
  app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector)));
  if (stack) {
    collectDefaultMetrics();
    const labelNames = ["method", "route", "status"];
    const requests = new Counter({ name: "http_requests_total", help: "Requests", labelNames });
    const seconds = new Histogram({ name: "http_request_duration_seconds", help: "S", labelNames });
    app.use((request: HttpRequest, response: any, next: () => void) => {
      const end = seconds.startTimer();
      response.on("finish", () => {
        const route = request.route?.path ?? "";
        const labels = { method: request.method, route, status: response.statusCode };
        requests.inc(labels);
        end(labels);
      });
      next();
    });
  }
  await app.listen(port, "127.0.0.1");
}
