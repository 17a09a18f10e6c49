/** The comments of the RealWorld API, with moderators, who remove any. */
import * as v from "valibot";
import {
  controller,
  dto,
  ForbiddenException,
  inject,
  NotFoundException,
  route,
} from "../../../../../mod.ts";
import { Principal } from "../../../../../src/authn/mod.ts";
import type { Row } from "../../../../../src/db/mod.ts";
import { AccountsService, ProfileRow, viewerOf } from "./accounts.ts";
import { ArticleKey, ArticlesService } from "./articles.ts";
import { type Comment, Db } from "./database.ts";

const Id = v.pipe(
  v.string(),
  v.digits(),
  v.toNumber(),
  v.integer(),
  v.minValue(1),
  v.maxValue(Number.MAX_SAFE_INTEGER),
);
const CommentKey = dto("CommentKey", v.object({ ...ArticleKey.entries, id: Id }));
const NewComment = dto(
  "NewComment",
  v.object({
    comment: v.object({ body: v.pipe(v.string(), v.minCodePoints(1), v.maxCodePoints(500)) }),
  }),
);
const CommentRow = v.object({
  id: v.pipe(v.number(), v.integer()),
  body: v.string(),
  createdAt: v.date(),
  author: ProfileRow,
});
const CommentBody = dto("Comment", v.object({ comment: CommentRow }));
const Comments = dto("Comments", v.object({ comments: v.array(CommentRow) }));

export class CommentsService {
  readonly #db = inject(Db);
  readonly #accounts = inject(AccountsService);
  readonly #articles = inject(ArticlesService);

  async of(slug: string, viewer?: string) {
    const { id: article_id } = await this.#articles.one(slug);
    const rows = await this.#db.comment.findMany({ where: { article_id }, orderBy: { id: "asc" } });
    return await Promise.all(rows.map((row) => this.view(row, viewer)));
  }

  async add({ slug, author, body }: { slug: string; author: string; body: string }) {
    const { id: article_id } = await this.#articles.one(slug);
    await this.#accounts.current(author);
    return await this.#db.comment.create({ data: { article_id, author, body } });
  }

  async remove({ slug, id }: v.InferOutput<typeof CommentKey>, author: string): Promise<void> {
    const { id: article_id } = await this.#articles.one(slug);
    const comment = await this.#db.comment.findFirst({ where: { id, article_id } }) ??
      NotFoundException.throw("No such comment");
    if (comment.author !== author) throw new ForbiddenException("Another user has written it");
    await this.#db.comment.delete({ where: { id } });
  }

  async purge(id: number): Promise<void> {
    await this.#db.comment.delete({ where: { id } });
  }

  async view({ id, body, author, created_at }: Row<typeof Comment>, viewer?: string) {
    const profile = await this.#accounts.profile(author, viewer);
    return { id, body, createdAt: created_at, author: profile };
  }
}

export class CommentsController extends controller("articles/:slug/comments") {
  readonly #comments = inject(CommentsService);

  list = route.get(
    "/",
    { params: ArticleKey, args: { viewer: viewerOf }, response: Comments },
    async ({ params: { slug }, viewer }) => ({ comments: await this.#comments.of(slug, viewer) }),
  );

  add = route.post(
    "/",
    {
      params: ArticleKey,
      args: { me: Principal },
      body: NewComment,
      response: CommentBody,
      status: 201,
    },
    async ({ params: { slug }, me: { subject }, body: { comment } }) => {
      const added = await this.#comments.add({ slug, author: subject, body: comment.body });
      return { comment: await this.#comments.view(added, subject) };
    },
  );

  remove = route.delete(
    "/:id",
    {
      params: CommentKey,
      args: { me: Principal },
      status: 204,
      openapi: { responses: { 403: "Another user has written it" } },
    },
    ({ params, me }) => this.#comments.remove(params, me.subject),
  );
}

export class ModerationController extends controller("moderation", { roles: ["moderator"] }) {
  readonly #comments = inject(CommentsService);

  purge = route.delete(
    "/comments/:id",
    { params: v.object({ id: Id }), status: 204 },
    ({ params: { id } }) => this.#comments.purge(id),
  );
}
