//! A bundle whose subject changed is done only once somebody renewed it.

use super::*;

struct Product(AtomicI64);

#[async_trait]
impl Activity for Product {
    async fn of(&self, _: &Subject) -> Result<Base, String> {
        Ok(Base::version(self.0.load(Ordering::SeqCst).to_string()))
    }
}

#[tokio::test]
async fn a_stale_bundle_is_refused_until_a_person_renews_it() {
    let stage = stage(chain()).await;
    let product = Arc::new(Product(AtomicI64::new(8)));
    let mut applier = stage.applier.clone();
    applier.bundles = applier.bundles.watching(Arc::clone(&product) as Arc<dyn Activity>);
    let refused = applier.apply("b", &Picked::some(["temp_4"]), &ann()).await.unwrap_err();
    let words = "bundle b is stale: what it is about has changed since. Look at it again, and renew it if it is still right";
    assert_eq!(refused.to_string(), words);
    assert_eq!(
        applier.apply("b", &Picked::some(["temp_4"]), &ann()).await.unwrap_err(),
        refused,
        "it stays so"
    );
    assert_eq!(stage.world.done(), []);
    applier.bundles.renew("b", &ann(), at(50)).await.unwrap();
    applier.apply("b", &Picked::some(["temp_4"]), &ann()).await.unwrap();

    // The rest goes stale, too, and what was done of it stays done.
    product.0.store(9, Ordering::SeqCst);
    assert_eq!(applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap_err(), refused);
    let renewed = applier.bundles.renew("b", &ann(), at(60)).await.unwrap();
    assert_eq!(renewed.state, State::PartiallyApproved);
    let bundle = applier.apply("b", &Picked::all(&renewed), &ann()).await.unwrap();
    assert_eq!((bundle.state, stage.world.done().len()), (State::Approved, 4));
}

/// The tools of a product that counts what its tools do as activity, as products do.
#[tokio::test]
async fn what_is_applied_does_not_make_the_rest_stale() {
    struct Counting(Arc<World>);
    #[async_trait]
    impl Activity for Counting {
        async fn of(&self, _: &Subject) -> Result<Base, String> {
            Ok(Base::version((7 + self.0.done().len()).to_string()))
        }
    }
    let stage = stage(chain()).await;
    let mut applier = stage.applier.clone();
    applier.bundles = applier.bundles.watching(Arc::new(Counting(Arc::clone(&stage.world))));
    let bundle = applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap();
    assert_eq!(bundle.about.base, Base::version("8"));
    let bundle = applier.apply("b", &Picked::all(&bundle), &ann()).await.unwrap();
    assert_eq!(bundle.state, State::Approved);
}
