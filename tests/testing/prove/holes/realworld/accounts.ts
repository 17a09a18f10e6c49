/** The users of the RealWorld API, their logins and profiles. */
import { createHash } from "node:crypto";
import * as v from "valibot";
import {
  type Context,
  controller,
  dto,
  inject,
  NotFoundException,
  route,
  UnauthorizedException,
} from "../../../../../mod.ts";
import { JwtService, Principal, principalOf } from "../../../../../src/authn/mod.ts";
import { Db, type User } from "./database.ts";

const Username = v.pipe(v.string(), v.regex(/^[a-z0-9]{1,40}$/));
const Password = v.pipe(v.string(), v.minCodePoints(8), v.maxCodePoints(100));
const Email = v.pipe(v.string(), v.email(), v.maxLength(100));
const Bio = v.pipe(v.string(), v.maxCodePoints(200));

const NewUser = dto(
  "NewUser",
  v.object({ user: v.object({ username: Username, email: Email, password: Password }) }),
);
const Login = dto("Login", v.object({ user: v.object({ email: Email, password: Password }) }));
const UserChange = dto(
  "UserChange",
  v.object({
    user: v.object({
      email: v.optional(Email),
      bio: v.optional(Bio),
      image: v.optional(v.nullable(v.pipe(v.string(), v.url(), v.maxLength(200)))),
    }),
  }),
);
const OwnUser = v.object({
  email: v.string(),
  username: v.string(),
  bio: v.string(),
  image: v.nullable(v.string()),
});
const UserBody = dto("User", v.object({ user: OwnUser }));
const Session = dto(
  "Session",
  v.object({ user: v.object({ ...OwnUser.entries, token: v.string() }) }),
);
export const ProfileRow = v.object({
  username: v.string(),
  bio: v.string(),
  image: v.nullable(v.string()),
  following: v.boolean(),
});
const Profile = dto("Profile", v.object({ profile: ProfileRow }));
const ProfileKey = dto("ProfileKey", v.object({ username: Username }));

/** Returns the name of the caller, if there is one. */
export function viewerOf(c: Context): string | undefined {
  return principalOf(c)?.subject;
}

export class AccountsService {
  readonly #db = inject(Db);
  readonly #jwt = inject(JwtService);

  async register({ password, ...data }: v.InferOutput<typeof NewUser>["user"]) {
    return await this.#session(
      await this.#db.user.create({ data: { ...data, password: digest(password) } }),
    );
  }

  async login({ email, password }: v.InferOutput<typeof Login>["user"]) {
    const user = await this.#db.user.findUnique({ where: { email } });
    if (!user || user.password !== digest(password)) {
      throw new UnauthorizedException("The address or the password is wrong");
    }
    return await this.#session(user);
  }

  /** Returns the user of a token, who is created with the first one of an identity provider. */
  async current(username: string): Promise<User> {
    return await this.#db.user.upsert({
      where: { username },
      create: { username, email: `${username}@users.example` },
      update: {},
    });
  }

  async change(username: string, data: v.InferOutput<typeof UserChange>["user"]) {
    await this.current(username);
    return await this.#db.user.update({ where: { username }, data });
  }

  async profile(username: string, viewer?: string) {
    const user = await this.#db.user.findUnique({ where: { username } }) ??
      NotFoundException.throw("No such user");
    return await this.profileOf(user, viewer);
  }

  async profileOf({ username, bio, image }: User, viewer?: string) {
    const following = viewer !== undefined &&
      await this.#db.follow.exists({ where: { follower: viewer, followed: username } });
    return { username, bio, image, following };
  }

  async follow(username: string, viewer: string) {
    await this.profile(username);
    await this.current(viewer);
    const where = { follower: viewer, followed: username };
    if (!await this.#db.follow.exists({ where })) await this.#db.follow.create({ data: where });
    return await this.profile(username, viewer);
  }

  async unfollow(username: string, viewer: string) {
    await this.#db.follow.deleteMany({ where: { follower: viewer, followed: username } });
    return await this.profile(username, viewer);
  }

  async #session(user: User) {
    const { username: subject } = user;
    return { ...user, token: await this.#jwt.sign({ subject }) };
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export class UsersController extends controller("users", { public: true }) {
  readonly #accounts = inject(AccountsService);

  register = route.post(
    "/",
    {
      body: NewUser,
      response: Session,
      status: 201,
      openapi: { responses: { 409: "The name or the address is taken" } },
    },
    async ({ body: { user } }) => ({ user: await this.#accounts.register(user) }),
  );

  login = route.post(
    "/login",
    {
      body: Login,
      response: Session,
      openapi: { responses: { 401: "The address or the password is wrong" } },
    },
    async ({ body: { user } }) => ({ user: await this.#accounts.login(user) }),
  );
}

export class UserController extends controller("user") {
  readonly #accounts = inject(AccountsService);

  current = route.get(
    "/",
    { args: { me: Principal }, response: UserBody },
    async ({ me }) => ({ user: await this.#accounts.current(me.subject) }),
  );

  change = route.put(
    "/",
    {
      args: { me: Principal },
      body: UserChange,
      response: UserBody,
      openapi: { responses: { 409: "The address is taken" } },
    },
    async ({ me, body: { user } }) => ({ user: await this.#accounts.change(me.subject, user) }),
  );
}

export class ProfilesController extends controller("profiles") {
  readonly #accounts = inject(AccountsService);

  one = route.get(
    "/:username",
    { params: ProfileKey, args: { viewer: viewerOf }, response: Profile },
    async ({ params: { username }, viewer }) => ({
      profile: await this.#accounts.profile(username, viewer),
    }),
  );

  follow = route.post(
    "/:username/follow",
    { params: ProfileKey, args: { me: Principal }, response: Profile },
    async ({ params: { username }, me }) => ({
      profile: await this.#accounts.follow(username, me.subject),
    }),
  );

  unfollow = route.delete(
    "/:username/follow",
    { params: ProfileKey, args: { me: Principal }, response: Profile },
    async ({ params: { username }, me }) => ({
      profile: await this.#accounts.unfollow(username, me.subject),
    }),
  );
}
