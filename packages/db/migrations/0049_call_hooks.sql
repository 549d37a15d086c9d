CREATE TABLE "call_hooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"phase" text NOT NULL,
	"endpoint_url" text NOT NULL,
	"signing_secret" "bytea" NOT NULL,
	"toolkit_slugs" text[] NOT NULL,
	"access_classes" text[] NOT NULL,
	"position" integer NOT NULL,
	"is_active" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "hook_answers" (
	"project_id" uuid NOT NULL,
	"call_id" uuid NOT NULL,
	"hook_id" uuid NOT NULL,
	"entity_id" text NOT NULL,
	"call_key" text,
	"decision" text NOT NULL,
	"edit" "bytea",
	"duration_ms" integer NOT NULL,
	"asked_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "hook_answers_call" PRIMARY KEY("project_id","call_id","hook_id")
);
--> statement-breakpoint
ALTER TABLE "call_hooks" ADD CONSTRAINT "call_hooks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hook_answers" ADD CONSTRAINT "hook_answers_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "call_hooks_project" ON "call_hooks" USING btree ("project_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "hook_answers_key" ON "hook_answers" USING btree ("project_id","call_key","hook_id") WHERE call_key is not null;--> statement-breakpoint
CREATE INDEX "hook_answers_asked" ON "hook_answers" USING btree ("asked_at");