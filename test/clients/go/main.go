// What a controller in Go does with an API server: a manager with a leader lease, informers, a reconciler with a
// finalizer, status patches and server-side apply, and the typed clients of client-go. Prints a line for each
// part that worked, and fails at the first one that did not.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	namespace = "go-client"
	finalizer = "example.com/hold"
	deadline  = 60 * time.Second
)

var (
	widgetKind     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	widgetResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

func main() {
	ctrl.SetLogger(zap.New())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check("kubeconfig", err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	clients := kubernetes.NewForConfigOrDie(config)
	_, err = clients.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	check("a namespace, in protobuf", err)
	typed(ctx, clients)
	informer(ctx, config)
	controller(ctx, config)
	check("the namespace goes", clients.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}))
}

func check(part string, err error) {
	if err != nil {
		fmt.Printf("failed: %s: %v\n", part, err)
		os.Exit(1)
	}
	fmt.Println("ok:", part)
}

func eventually(ctx context.Context, part string, condition func(context.Context) (bool, error)) {
	check(part, wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, deadline, true, condition))
}

func typed(ctx context.Context, clients *kubernetes.Clientset) {
	maps := clients.CoreV1().ConfigMaps(namespace)
	_, err := maps.Apply(ctx, applycorev1.ConfigMap("c", namespace).WithData(map[string]string{"a": "1"}), metav1.ApplyOptions{FieldManager: "go"})
	check("a typed apply", err)
	_, err = maps.Apply(ctx, applycorev1.ConfigMap("c", namespace).WithData(map[string]string{"a": "2"}), metav1.ApplyOptions{FieldManager: "other"})
	if !apierrors.IsConflict(err) {
		check("a conflict of appliers", fmt.Errorf("not a conflict: %v", err))
	}
	check("a conflict of appliers", nil)
	watcher, err := maps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=c", ResourceVersion: "0"})
	check("a watch", err)
	defer watcher.Stop()
	check("optimistic concurrency", retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := maps.Get(ctx, "c", metav1.GetOptions{})
		if err != nil {
			return err
		}
		current.Data["b"] = "3"
		_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
		return err
	}))
	timeout := time.After(deadline)
	for {
		select {
		case event := <-watcher.ResultChan():
			if event.Type == watch.Modified && event.Object.(*corev1.ConfigMap).Data["b"] == "3" {
				check("its event", nil)
				return
			}
		case <-timeout:
			check("its event", fmt.Errorf("it did not come"))
		}
	}
}

func informer(ctx context.Context, config *rest.Config) {
	dynamicClient := dynamic.NewForConfigOrDie(config)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamicClient, 0, namespace, nil)
	widgets := factory.ForResource(widgetResource)
	seen := make(chan string, 100)
	_, err := widgets.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { seen <- "add " + object.(*unstructured.Unstructured).GetName() },
		DeleteFunc: func(any) { seen <- "delete" },
	})
	check("an informer", err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	_, err = dynamicClient.Resource(widgetResource).Namespace(namespace).Create(ctx, widget("seen"), metav1.CreateOptions{})
	check("an object of a custom kind", err)
	expect(seen, "add seen")
	check("it goes", dynamicClient.Resource(widgetResource).Namespace(namespace).Delete(ctx, "seen", metav1.DeleteOptions{}))
	expect(seen, "delete")
}

func expect(seen chan string, wanted string) {
	select {
	case got := <-seen:
		if got != wanted {
			check("the informer hears: "+wanted, fmt.Errorf("it hears %s", got))
		}
		check("the informer hears: "+wanted, nil)
	case <-time.After(deadline):
		check("the informer hears: "+wanted, fmt.Errorf("it hears nothing"))
	}
}

func widget(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	object.SetGroupVersionKind(widgetKind)
	object.SetName(name)
	object.SetNamespace(namespace)
	return object
}

type reconciler struct {
	client.Client
}

func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := widget("")
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !object.GetDeletionTimestamp().IsZero() {
		controllerutil.RemoveFinalizer(object, finalizer)
		return reconcile.Result{}, client.IgnoreNotFound(r.Update(ctx, object))
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		return reconcile.Result{}, r.Update(ctx, object)
	}
	status := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": "Done"}}}
	status.SetGroupVersionKind(widgetKind)
	status.SetName(object.GetName())
	status.SetNamespace(object.GetNamespace())
	return reconcile.Result{}, r.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(status), client.FieldOwner("go-controller"), client.ForceOwnership)
}

func controller(ctx context.Context, config *rest.Config) {
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "go-client",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	check("a manager", err)
	check("a controller", ctrl.NewControllerManagedBy(manager).Named("widgets").For(widget("")).Complete(&reconciler{manager.GetClient()}))
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- manager.Start(running) }()
	direct := manager.GetClient()
	check("an object for it", direct.Create(ctx, widget("made")))
	key := types.NamespacedName{Namespace: namespace, Name: "made"}
	eventually(ctx, "its status is applied", func(ctx context.Context) (bool, error) {
		object := widget("")
		if err := direct.Get(ctx, key, object); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		phase, _, err := unstructured.NestedString(object.Object, "status", "phase")
		return phase == "Done", err
	})
	check("it is deleted", direct.Delete(ctx, widget("made")))
	eventually(ctx, "its finalizer lets it go", func(ctx context.Context) (bool, error) {
		err := direct.Get(ctx, key, widget(""))
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	stop()
	check("the manager ends", <-done)
	leases := kubernetes.NewForConfigOrDie(config).CoordinationV1().Leases(namespace)
	lease, err := leases.Get(ctx, "go-client", metav1.GetOptions{})
	check("its lease", err)
	if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
		check("the lease is given back", fmt.Errorf("%s holds it", *lease.Spec.HolderIdentity))
	}
	check("the lease is given back", nil)
}
