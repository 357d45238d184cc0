"""What a program in Python does with an API server: typed and dynamic clients, a watch, patches, server-side apply,
pages, and refusals. Prints a line for each part that worked."""

import os

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

NAMESPACE = "python-client"


def ok(part):
    print("ok:", part, flush=True)


def refused(part, status, call):
    try:
        call()
    except ApiException as error:
        assert error.status == status, f"{part}: {error.status}, not {status}"
        ok(part)
        return
    raise AssertionError(f"{part}: it was not refused")


config.load_kube_config(os.environ["KUBECONFIG"])
core = client.CoreV1Api()
custom = client.CustomObjectsApi()
meta = client.V1ObjectMeta

core.create_namespace(client.V1Namespace(metadata=meta(name=NAMESPACE)))
ok("a namespace")


def widget(name, size=1):
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"size": size},
    }


PLACE = ("example.com", "v1", NAMESPACE, "widgets")
for i in range(5):
    custom.create_namespaced_custom_object(*PLACE, widget(f"w{i}"))
ok("objects of a custom kind")

page = custom.list_namespaced_custom_object(*PLACE, limit=2)
names = [item["metadata"]["name"] for item in page["items"]]
while page["metadata"].get("continue"):
    page = custom.list_namespaced_custom_object(*PLACE, limit=2, _continue=page["metadata"]["continue"])
    names += [item["metadata"]["name"] for item in page["items"]]
assert names == [f"w{i}" for i in range(5)], names
ok("pages")

custom.patch_namespaced_custom_object(*PLACE, "w0", {"spec": {"size": 3}})
custom.patch_namespaced_custom_object_status(*PLACE, "w0", {"status": {"phase": "Done"}})
patched = custom.get_namespaced_custom_object(*PLACE, "w0")
assert (patched["spec"]["size"], patched["status"]["phase"]) == (3, "Done"), patched
ok("patches of an object and of its status")

refused("a value that the schema refuses", 422, lambda: custom.create_namespaced_custom_object(*PLACE, widget("bad", 0)))
refused("a name that is taken", 409, lambda: custom.create_namespaced_custom_object(*PLACE, widget("w0")))
refused("a name that is not there", 404, lambda: custom.get_namespaced_custom_object(*PLACE, "none"))

version = custom.list_namespaced_custom_object(*PLACE)["metadata"]["resourceVersion"]
custom.delete_namespaced_custom_object(*PLACE, "w1")
custom.create_namespaced_custom_object(*PLACE, widget("w9"))
stream = watch.Watch()
seen = []
for event in stream.stream(
    custom.list_namespaced_custom_object, *PLACE, resource_version=version, timeout_seconds=30
):
    seen.append((event["type"], event["object"]["metadata"]["name"]))
    if len(seen) == 2:
        stream.stop()
assert seen == [("DELETED", "w1"), ("ADDED", "w9")], seen
ok("a watch")

core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=meta(name="c"), data={"a": "1"}))
core.patch_namespaced_config_map("c", NAMESPACE, {"data": {"b": "2"}})
assert core.read_namespaced_config_map("c", NAMESPACE).data == {"a": "1", "b": "2"}
ok("a typed client, with a strategic merge patch")

api = dynamic.DynamicClient(client.ApiClient())
widgets = api.resources.get(api_version="example.com/v1", kind="Widget")
applied = widgets.server_side_apply(body=widget("applied"), namespace=NAMESPACE, field_manager="python")
assert applied.metadata.managedFields[0].manager == "python", applied.metadata
ok("discovery, and a server-side apply")
try:
    widgets.server_side_apply(body=widget("applied", 2), namespace=NAMESPACE, field_manager="other")
    raise AssertionError("there was no conflict")
except dynamic.exceptions.ConflictError as error:
    assert "Apply failed with 1 conflict" in str(error.body), error.body
ok("a conflict of appliers")

review = client.AuthorizationV1Api().create_self_subject_access_review(
    client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(
                group="example.com", resource="widgets", verb="create", namespace=NAMESPACE
            )
        )
    )
)
assert review.status.allowed
ok("a question about rights")

core.create_namespaced_service_account(NAMESPACE, client.V1ServiceAccount(metadata=meta(name="robot")))
token = core.create_namespaced_service_account_token(
    "robot", NAMESPACE, client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
).status.token
settings = client.Configuration.get_default_copy()
settings.refresh_api_key_hook = None
settings.api_key = {name: f"Bearer {token}" for name in ("authorization", "BearerToken")}
robot = client.CustomObjectsApi(client.ApiClient(settings))
refused("a service account without rights", 403, lambda: robot.list_namespaced_custom_object(*PLACE))

custom.delete_collection_namespaced_custom_object(*PLACE)
assert custom.list_namespaced_custom_object(*PLACE)["items"] == []
ok("a collection that is deleted")

core.delete_namespace(NAMESPACE)
ok("the namespace goes")
